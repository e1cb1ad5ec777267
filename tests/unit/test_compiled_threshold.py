"""A compiled model with a threshold: labels as FixedThresholdClassifier's, in C and Python."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import FixedThresholdClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kit.tools import need
from kmcompile import cli
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import interpret
from kmcompile.readers import load_model

X, Y = load_breast_cancer(return_X_y=True)
X = X.astype(np.float32).astype(np.float64)
THRESHOLD = 0.75
MODEL = make_pipeline(StandardScaler(), SVC(gamma=0.01)).fit(X, Y)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return the output folder of a model with a threshold."""
    need("gcc")
    root = tmp_path_factory.mktemp("threshold")
    (root / "cancer.pkl").write_bytes(pickle.dumps(MODEL))
    words = [str(root / "cancer.pkl"), "--threshold", str(THRESHOLD), "--verify", "host", "--quiet"]
    assert cli.run([*words, "--out", str(root / "out")]) == 0
    return root / "out"


@pytest.mark.exhaustive
def test_labels_are_those_of_fixed_threshold_classifier(folder):
    compiled = kmcompile.load(folder)
    theirs = FixedThresholdClassifier(
        MODEL, threshold=THRESHOLD, response_method="decision_function"
    )
    expected = theirs.fit(X, Y).predict(X)
    certified = compiled.classify(X)["certified"]
    np.testing.assert_array_equal(compiled.predict(X)[certified], expected[certified])
    assert certified.sum() >= len(X) - 1
    assert (expected != MODEL.predict(X)).any()


@pytest.mark.exhaustive
def test_decision_function_is_the_trained_models(folder):
    compiled = kmcompile.load(folder)
    bound = interpret(compiled.program, X.astype(np.float32)).bounds[:, 0]
    float64 = 2 * evaluate(load_model(MODEL), X).error[:, 0]  # of both sides
    difference = np.abs(compiled.decision_function(X) - MODEL.decision_function(X))
    assert (difference <= bound + float64).all()


@pytest.mark.exhaustive
def test_command_header_and_report_say_it(folder):
    compiled = kmcompile.load(folder)
    header = " ".join((folder / "cancer.h").read_text().replace("\n *", " ").split())
    assert "/* kmcompile cancer.pkl --target host --threshold 0.75 */" in header
    assert "compared with the threshold 0.75, which is taken off" in header
    assert compiled.report["model"]["threshold"] == THRESHOLD
    assert any("at least 0.75" in note for note in compiled.report["notes"])


def test_verify_repeats_the_bounded_check_with_the_threshold(folder, capsys):
    assert cli.run(["verify", str(folder), "--model", str(folder.parent / "cancer.pkl")]) == 0


def test_many_classes_exit_2(tmp_path, capsys):
    model = SVC().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
    (tmp_path / "three.pkl").write_bytes(pickle.dumps(model))
    assert cli.run([str(tmp_path / "three.pkl"), "--threshold", "0.5"]) == 2
    assert "has no single decision to compare" in capsys.readouterr().err
