"""The counters of telemetry: their names, their storage, and what they cost a program without."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from kit import catalogue
from kit.watched import CORE, Doubled
from kmcompile import resources
from kmcompile.program import storage
from kmcompile.program.telemetry import counters


def table_of_the_manual() -> dict[str, str]:
    text = (resources.manual_dir() / "telemetry.md").read_text()
    rows = text.partition("## The struct")[2].partition("## For the ground")[0]
    return dict(re.findall(r"^\| `(\w+)` \| (.*?) \|$", rows, re.M))


def test_the_manual_has_every_counter_with_its_meaning() -> None:
    manual = table_of_the_manual()
    cases = (*CORE, Doubled(CORE[1]))
    own = {c.name: c.meaning for case in cases for c in counters(case.emit("host").program)}
    assert manual.keys() == own.keys()
    assert all(manual[name].startswith(meaning) for name, meaning in own.items())


def test_a_meaning_fits_into_a_comment_and_a_word_has_one_name() -> None:
    for case in CORE:
        own = counters(case.emit("host").program)
        names = [name for counter in own for name, _ in counter.words]
        assert len(set(names)) == len(names)
        assert all(re.fullmatch(r"[a-z]\w*", name) for name in names)
        assert max(len(counter.meaning) for counter in own) <= 30


@pytest.mark.parametrize("telemetry", [False, True])
def test_a_program_is_stored_with_its_switch(telemetry: bool) -> None:
    program = replace(catalogue.emitted(CORE[1], "host").program, telemetry=telemetry)
    content = storage.save(program)
    assert (b'"telemetry"' in content) == telemetry
    again = storage.load(content, "program.npz")
    assert again.telemetry == telemetry
    assert storage.save(again) == content
    assert ("telemetry" in str(program)) == telemetry


@pytest.mark.parametrize("copies", [1, 2])
def test_a_program_is_stored_with_its_copies(copies: int) -> None:
    program = replace(catalogue.emitted(CORE[1], "host").program, redundancy=copies)
    content = storage.save(program)
    assert (b'"redundancy"' in content) == (copies == 2)
    assert storage.load(content, "program.npz").redundancy == copies
