"""predict_proba of a compiled model, the command line and the report of a calibrated one."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pytest
from sklearn.svm import SVC

import kmcompile
from kit import calibrated
from kit.tools import need
from kmcompile import cli
from kmcompile.errors import InputError, UsageError


@pytest.fixture(scope="module", params=["rbf", "iris"])
def case(request, tmp_path_factory):
    """Return estimator, samples and output folder of a calibrated model."""
    need("gcc")
    root = tmp_path_factory.mktemp("calibrated")
    model, (X, _) = calibrated.fitted(request.param), calibrated.samples(request.param)
    (root / "model.pkl").write_bytes(pickle.dumps(model))
    np.save(root / "test.npy", X)
    words = [str(root / "model.pkl"), "--out", str(root / "out"), "--verify", "host", "--quiet"]
    words += ["--mode", "exact"]
    assert cli.run([*words, "--test-data", str(root / "test.npy")]) == 0
    return model, X, root / "out"


@pytest.mark.exhaustive
def test_predict_proba_is_scikit_learns_within_the_reported_bound(case):
    model, X, folder = case
    compiled = kmcompile.load(folder)
    check = compiled.report["verification"]["probabilities"]
    told, theirs = compiled.predict_proba(X), model.predict_proba(X)
    assert told.shape == theirs.shape
    assert np.abs(told - theirs).max() <= check["max_bound"]
    assert check["max_error"] <= check["max_bound"]
    assert check["queries"] == len(X)


@pytest.mark.exhaustive
def test_labels_are_predict_s_where_they_are_certified(case):
    model, X, folder = case
    compiled = kmcompile.load(folder)
    certified = compiled.classify(X)["certified"]
    np.testing.assert_array_equal(compiled.predict(X)[certified], model.predict(X)[certified])
    assert certified.mean() > 0.9


@pytest.mark.exhaustive
def test_the_header_tells_how_to_ask(case):
    _, _, folder = case
    header = " ".join((folder / "model.h").read_text().replace("\n *", " ").split())
    assert "model_status_t model_probability(" in header
    assert "no further than *bound from the trained model's" in header


@pytest.mark.exhaustive
def test_verify_repeats_the_check(case, capsys):
    _, _, folder = case
    capsys.readouterr()
    words = ["verify", str(folder), "--model", str(folder.parent / "model.pkl"), "--json"]
    assert cli.run(words) == 0
    found = json.loads(capsys.readouterr().out)["verification"]["probabilities"]
    report = kmcompile.load(folder).report["verification"]["probabilities"]
    assert found == report


@pytest.mark.exhaustive
def test_rows_that_the_c_refuses_are_named(case):
    _, X, folder = case
    rows = X[:3].copy()
    rows[1, 0] = np.nan
    with pytest.raises(InputError, match=r"X\[1\] is refused with ERROR_NOT_FINITE"):
        kmcompile.load(folder).predict_proba(rows)


@pytest.mark.parametrize("threshold", ["0", "1", "-0.5", "1.5"])
def test_a_threshold_of_a_calibrated_model_is_a_probability(case, threshold, capsys):
    _, X, folder = case
    words = [str(folder.parent / "model.pkl"), "--threshold", threshold, "--out", "o"]
    assert cli.run(words) == 2
    expected = "between 0 and 1" if X.shape[1] == 30 else "no single decision"
    assert expected in capsys.readouterr().err


def test_a_model_that_is_not_calibrated_has_no_probabilities():
    need("gcc")
    model = SVC().fit([[0.0], [1.0]], [0, 1])
    compiled = kmcompile.compile_model(model, target="host", verify="none", mode="exact")
    with pytest.raises(UsageError, match="the model is not calibrated"):
        compiled.predict_proba([[0.5]])
    assert "probability(" not in compiled._files[f"{compiled.program.name}.h"].decode()
