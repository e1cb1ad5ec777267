"""A program that is broken on purpose: what the command line, Python and the disk have then."""

from __future__ import annotations

import json
import os
import pickle
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.svm import SVC

import kmcompile
from kit.tools import need
from kmcompile import cli, pipeline
from kmcompile.errors import VerificationError
from kmcompile.verify.verifier import Verifier

MODEL = SVC(gamma=0.5)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in an empty folder with a model."""
    need("gcc")
    monkeypatch.chdir(tmp_path)
    X = np.random.default_rng(4).normal(size=(30, 3))
    Path("m.pkl").write_bytes(pickle.dumps(MODEL.fit(X, X[:, 0] > 0)))
    return tmp_path


def break_emitted(monkeypatch: pytest.MonkeyPatch, before: str, after: str) -> None:
    """Let the C that is emitted differ in one place."""
    emit_files = pipeline.emit_files

    def broken(*given: Any) -> Any:
        emitted = emit_files(*given)
        sources = emitted.texts
        name = next(key for key in sources if re.fullmatch(r"[a-z]+\.c", key))
        text, n = re.subn(before, after, sources[name], count=1)
        assert n == 1
        return replace(emitted, texts={**sources, name: text})

    monkeypatch.setattr(pipeline, "emit_files", broken)


def count_kernels_wrongly(monkeypatch: pytest.MonkeyPatch) -> None:
    break_emitted(monkeypatch, r"result->kernel_evals = ", "result->kernel_evals = 1U + ")


def failing(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    """Return the lines of a command that ends with exit code 1."""
    assert cli.run(words) == 1
    out, err = capsys.readouterr()
    assert out == ""
    lines = err.splitlines()
    assert 1 <= len(lines) <= 3
    return lines


def names() -> list[str]:
    return sorted(os.listdir())


def test_c_that_answers_otherwise_leaves_the_queries_and_no_folder(monkeypatch, capsys):
    with monkeypatch.context() as broken:
        count_kernels_wrongly(broken)
        lines = failing(capsys, "m.pkl", "--mode", "exact")
    assert "answers differ from the interpreter's" in lines[0]
    assert lines[1].startswith("  first: query ")
    assert lines[2] == (
        "  no option leaves this out; please report it with m-host-failed.json and "
        "m-host-failed.npz, which hold 16 failing inputs"
    )
    assert names() == ["m-host-failed.json", "m-host-failed.npz", "m.pkl"]
    content = json.loads(Path("m-host-failed.json").read_text())
    assert content["command"] == "kmcompile m.pkl --target host --mode exact"
    assert content["files"]["m.c"]
    assert "rbf" in content["model"]["description"]
    query = content["queries"][0]
    assert query["c"]["kernel_evals"] == query["interpreter"]["kernel_evals"] + 1
    # Mended: the saved inputs are what to try it with.
    words = ["m.pkl", "--mode", "exact", "--test-data", "m-host-failed.npz", "--quiet"]
    assert cli.run(words) == 0


def test_a_failing_self_test_says_so_and_names_what_to_send(monkeypatch, capsys):
    break_emitted(monkeypatch, r"0x1\.", "0x1.1")
    lines = failing(capsys, "m.pkl", "--mode", "exact")
    assert "self-test of the emitted C returned" in lines[0]
    assert "please report it with m-host-failed.json" in lines[-1]
    assert json.loads(Path("m-host-failed.json").read_text())["failed"]["where"] == "host"


def test_a_folder_beside_which_nothing_can_be_written_still_gives_exit_code_1(monkeypatch, capsys):
    def refused(*_: Any) -> None:
        raise PermissionError(13, "Permission denied")

    count_kernels_wrongly(monkeypatch)
    monkeypatch.setattr("kmcompile.output.failure_files.open", refused, raising=False)
    lines = failing(capsys, "m.pkl", "--mode", "exact")
    assert "answers differ" in lines[0]
    assert "are not saved: m-host-failed.json: Permission denied" in lines[2]
    assert names() == ["m.pkl"]


def test_verify_saves_beside_the_folder_also_from_within(monkeypatch, capsys, tmp_path):
    assert cli.run(["m.pkl", "--mode", "exact", "--quiet"]) == 0
    capsys.readouterr()
    before = {path: path.read_bytes() for path in Path("m-host").iterdir()}
    run = Verifier._run

    def other_bits(self: Verifier, artifact: Any, count: bool) -> Any:
        result = run(self, artifact, count)
        result.records[3, 4] ^= np.uint32(1)
        return result

    monkeypatch.setattr(Verifier, "_run", other_bits)
    lines = failing(capsys, "verify", "m-host")
    assert "first: query 3, word 4" in lines[1]
    assert "please report it with m-host-failed.json and m-host-failed.npz" in lines[2]
    content = json.loads(Path("m-host-failed.json").read_text())
    assert content["queries"][0]["model"] is None  # not given
    assert content["command"] == "kmcompile m.pkl --target host --mode exact"
    monkeypatch.chdir("m-host")
    lines = failing(capsys, "verify", ".", "--model", "../m.pkl")
    assert str(tmp_path / "m-host-failed.json") in lines[2]
    monkeypatch.chdir("..")
    assert json.loads(Path("m-host-failed.json").read_text())["queries"][0]["model"] is not None
    assert {path: path.read_bytes() for path in Path("m-host").iterdir()} == before


def test_bench_keeps_them_in_its_folder_and_takes_that_again(monkeypatch, capsys):
    with monkeypatch.context() as broken:
        count_kernels_wrongly(broken)
        lines = failing(capsys, "bench", "m.pkl", "--targets", "host", "--mode", "exact")
    assert "m-bench/host-failed.json and host-failed.npz" in lines[2]
    assert sorted(os.listdir("m-bench")) == ["host-failed.json", "host-failed.npz"]
    assert cli.run(["bench", "m.pkl", "--targets", "host", "--mode", "exact", "--quiet"]) == 0


def test_python_has_the_queries_at_the_error(monkeypatch):
    count_kernels_wrongly(monkeypatch)
    with pytest.raises(VerificationError) as caught:
        kmcompile.compile_model(MODEL, mode="exact", name="m")
    error = caught.value
    assert error.saved == ()
    assert set(error.files) == {"m-failed.npz", "m-failed.json"}
    assert error.failure.X.shape == (16, 3)
    wrong = error.failure.records[:, 4]
    assert (wrong == error.failure.answers.results["kernel_evals"] + 1).all()
    with pytest.raises(VerificationError) as caught:
        kmcompile.compile_model(MODEL, mode="exact", name="m", out="made/here")
    assert [str(path) for path in caught.value.saved] == [
        "made/here-failed.json",
        "made/here-failed.npz",
    ]
    assert names() == ["m.pkl", "made"]
