"""The campaign of attacks: it counts, goes on where it stopped, and tells what is wrong."""

from __future__ import annotations

import random
import time
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

import pytest

from evidence import attack_kinds, campaign
from evidence.attack_kinds import KINDS, Found, Kind, damaged, files_piece
from evidence.campaign import Done, lines, most_behind, read_state, write_state


@pytest.mark.exhaustive
def test_it_goes_on_where_it_stopped(tmp_path):
    path = tmp_path / "campaign.json"
    state = read_state(path)
    assert set(state) == set(KINDS)
    state["libsvm"].add(0, Found(10), 1.5)
    state["libsvm"].add(1, Found(10, ["file 3: KeyError"]), 2.0)
    write_state(path, state)
    again = read_state(path)
    assert again == state
    assert again["libsvm"] == Done(2, 20, 1, 3.5, ["piece 1: file 3: KeyError"])
    assert [file.name for file in tmp_path.iterdir()] == ["campaign.json"]
    assert "    piece 1: file 3: KeyError" in lines(again)


def test_what_was_found_in_other_sources_does_not_count(tmp_path, monkeypatch):
    path = tmp_path / "state.json"
    state = read_state(path)
    state["libsvm"].add(0, Found(10), 1.5)
    write_state(path, state)
    monkeypatch.setattr(campaign, "sources", lambda: "others")
    assert read_state(path)["libsvm"] == Done()


def test_the_kind_that_is_most_behind_comes_next():
    state = {name: Done() for name in KINDS}
    wanted = {"libsvm": 100, "pickle": 10}
    state["libsvm"].asked, state["pickle"].asked = 50, 4
    assert most_behind(state, wanted, []) == "pickle"
    state["pickle"].asked = 10
    assert most_behind(state, wanted, []) == "libsvm"
    state["libsvm"].asked = 101
    assert most_behind(state, wanted, []) is None


def test_no_piece_is_asked_for_behind_the_last(tmp_path, monkeypatch):
    asked = []

    def piece(number: int) -> Found:
        asked.append(number)
        time.sleep(0.05)
        return Found(10)

    kind = Kind("claim", "unit", "defect", lambda: 30, piece, lambda: 3)
    monkeypatch.setitem(KINDS, "few", kind)
    monkeypatch.setattr(campaign.os, "cpu_count", lambda: 4)
    monkeypatch.setattr(
        campaign, "ProcessPoolExecutor", lambda cores, mp_context: ThreadPoolExecutor(cores)
    )
    state = {"few": Done()}
    campaign.attack(state, tmp_path / "state.json", 1.0, ["few"])
    assert sorted(asked) == [0, 1, 2]
    assert state["few"].asked == 30


@pytest.mark.parametrize("name", ["libsvm", "pickle", "npz", "skops", "onnx"])
def test_damaged_files_are_other_files_and_again_the_same(name, monkeypatch):
    reader, files = attack_kinds._reader(name)
    made = [damaged(reader, files, random.Random(n)) for n in range(40)]
    assert made == [damaged(reader, files, random.Random(n)) for n in range(40)]
    assert sum(content not in files for content in made) > 30
    monkeypatch.setattr(attack_kinds, "N_FILES", MappingProxyType({name: 40}))
    assert files_piece(name, 0) == Found(40)


def test_a_reader_that_crashes_is_told(monkeypatch):
    reader, files = attack_kinds._reader("libsvm")

    def crashes(content):
        raise KeyError("gamma")

    broken = attack_kinds.Reader("libsvm", crashes, 1 << 20, reader.words, reader.split)
    monkeypatch.setattr(attack_kinds, "_reader", lambda name: (broken, files))
    monkeypatch.setattr(attack_kinds, "N_FILES", MappingProxyType({"libsvm": 2}))
    assert files_piece("libsvm", 0).wrong == [f"file {n}: KeyError: 'gamma'" for n in range(2)]


@pytest.mark.exhaustive
@pytest.mark.parametrize("n", [0, -1], ids=["one copy", "two copies"])
def test_every_flipped_bit_of_a_piece_is_found(n, monkeypatch):
    n %= len(attack_kinds._models())
    last = attack_kinds._n_bits(attack_kinds._emitted(n).program) - 300
    monkeypatch.setattr(attack_kinds, "_bits", lambda: [(n, 0), (n, last)])
    monkeypatch.setattr(attack_kinds, "N_BITS", 300)
    assert [attack_kinds.bits_piece(piece) for piece in (0, 1)] == [Found(300), Found(300)]


def test_a_piece_of_queries_counts_certified_answers():
    found = attack_kinds.random_piece(3)
    assert found.asked > 100
    assert found.wrong == []
