"""Options of a regression through the command line: what is taken, refused and reported."""

from __future__ import annotations

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris
from sklearn.svm import SVC

import kmcompile
from kit.regressions import fitted
from kit.tools import need
from kmcompile import cli
from kmcompile.errors import UsageError


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Work in a folder with a regression, its samples and a classifier."""
    need("gcc")
    monkeypatch.chdir(tmp_path)
    Path("value.pkl").write_bytes(pickle.dumps(fitted("rbf", 150)))
    Path("label.pkl").write_bytes(pickle.dumps(SVC().fit(*load_iris(return_X_y=True))))
    np.savez("samples.npz", X=load_diabetes().data[150:300])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ("label.pkl --tolerance 1", "gives labels, not values"),
        ("value.pkl --tolerance 0", "must be a number > 0"),
        ("value.pkl --tolerance -1", "must be a number > 0"),
        ("value.pkl --tolerance nan", "must be a number > 0"),
        ("value.pkl --tolerance inf", "must be a number > 0"),
        ("value.pkl --mode statistical --data samples.npz", "is a regression"),
        ("value.pkl --risk 0.01 --data samples.npz", "is a regression"),
        ("value.pkl --replay float64", "without --tolerance"),
        ("value.pkl --mode exact --tolerance 1", "no stage stops at it"),
    ],
)
def test_an_option_that_does_not_fit_the_task_is_wrong_usage(words, told, capsys):
    assert cli.run([*words.split(), "--out", "o"]) == UsageError.exit_code
    error = capsys.readouterr().err
    assert told in error
    assert 1 <= len(error.splitlines()) <= 3
    assert not Path("o").exists()


def test_without_a_tolerance_every_value_is_the_exact_sum():
    assert cli.run(["value.pkl", "--out", "o", "--quiet"]) == 0
    report = json.loads(Path("o/report.json").read_text())
    assert report["options"]["mode"] == "exact"
    assert report["model"]["classes"] is None
    assert report["verification"]["certified"] is None
    assert any("without --tolerance" in note for note in report["notes"])
    assert cli.run(["verify", "o", "--model", "value.pkl", "--quiet"]) == 0


@pytest.mark.exhaustive
def test_a_tolerance_is_in_the_command_and_the_samples_choose_the_exits():
    words = ["value.pkl", "--tolerance", "20", "--data", "samples.npz", "--quiet"]
    assert cli.run([*words, "--out", "o"]) == 0
    assert cli.run([*words, "--mode", "certified", "--out", "again"]) == 0
    report = json.loads(Path("o/report.json").read_text())
    source = Path("o/value.c").read_text()
    assert source == Path("again/value.c").read_text()
    head = source.splitlines()[0]
    assert head.endswith(" --data samples.npz --mode certified --tolerance 20.0 */")
    assert report["choice"]["queries_source"] == "data"
    assert sum(stage["decided"] or 0 for stage in report["stages"]) == pytest.approx(1.0, abs=1e-12)
    assert cli.run(["verify", "o", "--model", "value.pkl", "--quiet"]) == 0


@pytest.mark.exhaustive
def test_auto_takes_float32_and_codes_are_taken_where_they_are_asked_for():
    assert cli.run(["value.pkl", "--format", "auto", "--out", "a", "--quiet"]) == 0
    assert json.loads(Path("a/report.json").read_text())["options"]["format"] == "float32"
    assert cli.run(["value.pkl", "--format", "int16", "--out", "b", "--quiet"]) == 0
    assert "value_predict_float(" in Path("b/value.h").read_text()


@pytest.mark.exhaustive
def test_python_gives_values_and_intervals():
    X = load_diabetes().data[150:]
    compiled = kmcompile.compile_model(fitted("rbf", 150), tolerance=20.0)
    answers = compiled.predict_interval(X)
    expected = fitted("rbf", 150).predict(X.astype(np.float32).astype(np.float64))
    assert (answers["status"] == 0).all()
    rounding = 1e-12 * np.abs(fitted("rbf", 150)[-1].dual_coef_).sum()
    assert (answers["lower"] - rounding <= expected).all()
    assert (expected <= answers["upper"] + rounding).all()
    np.testing.assert_array_equal(compiled.predict(X), answers["value"])
    assert "label" not in answers.dtype.names
    with pytest.raises(UsageError, match="use predict_interval"):
        compiled.classify(X)
    again = kmcompile.compile_model(SVC().fit(*load_iris(return_X_y=True)))
    with pytest.raises(UsageError, match="use classify"):
        again.predict_interval(load_iris().data)
    assert "value" not in again.classify(load_iris().data).dtype.names
