"""`--format` through the command line: what is taken, told, written and read back."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kit.tools import need
from kmcompile import cli

PIXELS, DIGITS = load_digits(return_X_y=True)
TRAINED = 500


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with a model of integers and one of real numbers."""
    need("gcc")
    monkeypatch.chdir(tmp_path)
    digits = SVC(gamma=0.001).fit(PIXELS[:TRAINED], DIGITS[:TRAINED])
    Path("digits.pkl").write_bytes(pickle.dumps(digits))
    X, y = load_breast_cancer(return_X_y=True)
    Path("cancer.pkl").write_bytes(pickle.dumps(make_pipeline(StandardScaler(), SVC()).fit(X, y)))
    np.savez("cancer.npz", X=X)


def compile_to(out: str, *words: str) -> dict[str, Any]:
    """Compile in mode exact and return report.json."""
    assert cli.run([*words, "--mode", "exact", "--quiet", "--out", out]) == 0
    report: dict[str, Any] = json.loads(Path(out, "report.json").read_text())
    return report


def test_auto_takes_integers_where_they_lose_nothing() -> None:
    report = compile_to("o", "digits.pkl", "--format", "auto")
    assert report["options"]["format"] == "int8"
    assert [f["format"] for f in report["formats"] if f["chosen"]] == ["int8"]
    assert report["verification"]["exact"]["host"]["mismatches"] == 0
    assert report["verification"]["certified"]["wrong"] == 0
    assert "typedef uint8_t digits_input_t;" in Path("o", "digits.h").read_text()


def test_the_command_stays_as_it_was_given_and_gives_the_same_bytes() -> None:
    first = compile_to("a", "digits.pkl", "--format", "auto", "--verify", "none")
    again = compile_to("b", "digits.pkl", "--format", "auto", "--verify", "none")
    head = Path("a", "digits.c").read_text().splitlines()[0]
    assert head == "/* kmcompile digits.pkl --target host --mode exact --format auto */"
    assert first == again
    assert Path("a", "digits.c").read_bytes() == Path("b", "digits.c").read_bytes()


def test_auto_and_the_format_that_it_takes_give_the_same_program() -> None:
    auto = compile_to("a", "digits.pkl", "--format", "auto", "--verify", "none")
    given = compile_to("b", "digits.pkl", "--format", "int8", "--verify", "none")
    assert auto["files"]["program.npz"] == given["files"]["program.npz"]
    assert given["formats"] is None
    assert "given" in given["not_available"]["formats"]


def test_the_shares_of_auto_are_of_the_samples_where_there_are_any() -> None:
    words = ("cancer.pkl", "--format", "auto", "--data", "cancer.npz", "--verify", "none")
    report = compile_to("o", *words)
    assert {f["queries"] for f in report["formats"]} == {"the samples in --data"}


def test_json_has_the_formats(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["digits.pkl", "--format", "auto", "--mode", "exact", "--verify", "none", "--json"]
    assert cli.run(words) == 0
    assert len(json.loads(capsys.readouterr().out)["formats"]) == 3


@pytest.mark.exhaustive
def test_a_folder_of_integers_is_verified_and_loaded_again() -> None:
    compile_to("o", "digits.pkl", "--format", "int8")
    assert cli.run(["verify", "o", "--model", "digits.pkl", "--quiet"]) == 0
    compiled = kmcompile.load("o")
    rest = PIXELS[TRAINED:]
    model = pickle.loads(Path("digits.pkl").read_bytes())
    assert (compiled.predict(rest) == model.predict(rest)).all()
    assert (compiled.predict(rest.astype(np.uint8), codes=True) == model.predict(rest)).all()
