"""Promises that cannot be kept, and samples that are too few for them, end in their exit code."""

from __future__ import annotations

import json
from pathlib import Path

import joblib
import numpy as np
import pytest
from failing_commands import error_lines
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from kmcompile import cli


def test_statistical_without_data_names_the_option_that_is_missing(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([model, "--mode", "statistical"]) == 2
    lines = error_lines(capsys)
    assert "--mode statistical needs calibration samples" in lines[0]
    assert "--data FILE" in lines[1]
    assert "not built" not in " ".join(lines)


PROMISES = ["--risk 0.01", "--risk 0.001", "--risk auto", "--risk-control expected"]
PROMISES += ["--risk-control guaranteed", "--thresholds simple", "--thresholds risk"]


@pytest.mark.parametrize("words", PROMISES)
def test_promise_without_samples_exits_2_and_asks_for_them(
    words: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([model, *words.split()]) == 2
    lines = error_lines(capsys)
    assert f"needed for {words}" in lines[0]
    assert "--data FILE" in lines[1]


@pytest.mark.parametrize(
    "given", ["--mode exact", "--data d.npz --mode exact", "--data d.npz --mode certified"]
)
@pytest.mark.parametrize("words", PROMISES)
def test_promise_in_a_mode_that_makes_none_exits_2(
    words: str, given: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([model, *given.split(), *words.split()]) == 2
    lines = error_lines(capsys)
    assert f"--mode {given.split()[-1]} has no use for {words}" in lines[0]
    assert "--mode statistical" in lines[1]


@pytest.mark.parametrize("thresholds", ["simple", "maxsmoothed"])
@pytest.mark.parametrize("words", ["--risk 0.001", "--risk auto", "--risk-control guaranteed"])
def test_thresholds_of_the_paper_go_with_no_promise(
    words: str, thresholds: str, model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    given = [model, "--data", "d.npz", "--thresholds", thresholds, *words.split()]
    assert cli.run(given) == 2
    first = error_lines(capsys)[0]
    assert f"--thresholds {thresholds} promises nothing" in first
    assert words in first


def test_all_promises_that_lack_samples_are_told_in_one_message(
    model: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([model, *["--risk", "0.01", "--risk-control", "expected"]]) == 2
    assert "--risk 0.01, --risk-control expected" in error_lines(capsys)[0]


@pytest.fixture
def digits_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Write small digits against large ones: a model, its training samples and others."""
    X, y = load_digits(return_X_y=True)
    X = (X / 16).astype(np.float32)
    monkeypatch.chdir(tmp_path)
    joblib.dump(SVC(gamma=0.5, C=10).fit(X[:500], y[:500] > 4), "m.pkl")
    np.save("trained.npy", X[:500])
    np.save("fresh.npy", X[500:1500])


def test_samples_of_mode_certified_that_are_too_few_exit_3(
    digits_files: None, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save("few.npy", np.load("fresh.npy")[:20])
    assert cli.run([*COMPILE.split(), "--data", "few.npy", "--mode", "certified"]) == 3
    lines = error_lines(capsys)
    assert "--data has 20 usable samples, must have at least" in lines[0]
    assert "for mode certified" in lines[0]
    assert "leave out --data" in lines[1]
    assert not Path("o").exists()


@pytest.mark.parametrize("mode", ["certified", "exact"])
def test_samples_of_another_shape_exit_3_in_every_mode(
    mode: str, digits_files: None, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save("narrow.npy", np.load("fresh.npy")[:, :5])
    assert cli.run([*COMPILE.split(), "--data", "narrow.npy", "--mode", mode]) == 3
    assert "must be (n_samples, 64)" in error_lines(capsys)[0]


COMPILE = "m.pkl --trust-pickle --verify none --out o"


def test_risk_beyond_the_samples_exits_3_and_names_the_one_to_ask_for(
    digits_files: None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run([*COMPILE.split(), "--data", "fresh.npy", "--risk", "0.0001"]) == 3
    lines = capsys.readouterr().err.splitlines()
    message = "\n".join(lines)
    assert "of the 1,000 in --data support a risk of" in message
    assert "ask for --risk" in message
    assert not Path("o").exists()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("words", "guarantee", "thresholds"),
    [
        ("--data fresh.npy --risk auto", "guaranteed", "risk"),
        ("--data trained.npy", "none", "risk"),
        ("--data fresh.npy --thresholds simple", "none", "simple"),
    ],
)
def test_report_tells_what_is_promised(
    words: str, guarantee: str, thresholds: str, digits_files: None
) -> None:
    assert cli.run([*COMPILE.split(), *words.split()]) == 0
    report = json.loads(Path("o/report.json").read_text())
    assert report["risk"]["guarantee"] == guarantee
    assert report["calibration"]["thresholds"] == thresholds
    assert (report["risk"]["upper_bound"] is None) == (guarantee == "none")


@pytest.mark.exhaustive
def test_a_replay_that_is_asked_for_and_does_not_fit_exits_4(
    digits_files: None, capsys: pytest.CaptureFixture[str]
) -> None:
    """By default it is left out instead, and a note says so."""
    common = ["m.pkl", "--trust-pickle", "--verify", "none"]
    assert cli.run([*common, "--mode", "exact", "--out", "exact"]) == 0
    needed = json.loads(Path("exact/report.json").read_text())["memory"]["flash_bytes"]
    tight = [*common, "--max-flash", str(needed + 200)]
    assert cli.run([*tight, "--out", "default"]) == 0
    assert "there is no replay" in Path("default/report.json").read_text()
    capsys.readouterr()
    assert cli.run([*tight, "--out", "o", "--replay", "float64"]) == 4
    assert "bytes of flash" in error_lines(capsys)[0]
    assert not Path("o").exists()
