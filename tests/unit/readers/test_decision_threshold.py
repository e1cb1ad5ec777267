"""Thresholds of FixedThresholdClassifier and TunedThresholdClassifierCV are moved into f."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import f1_score, make_scorer
from sklearn.model_selection import (
    FixedThresholdClassifier,
    GridSearchCV,
    TunedThresholdClassifierCV,
)
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, LinearSVC
from sklearn_agreement import fitted

from kmcompile.errors import InputError
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model

X, Y = load_breast_cancer(return_X_y=True)
X, Y = scale(X)[::2], Y[::2]
NAMES = np.array(["bad", "good"])[Y]


def assert_labels(model, tmp_path):
    """Assert scikit-learn's label wherever the decision is clear of the threshold."""
    machine = load_model(model)
    reference = evaluate(machine, X)
    clear = np.abs(reference.decisions[:, 0]) > 2 * reference.error[:, 0] + 2.0**-40
    assert clear.mean() > 0.9
    labels = np.array(machine.classes)[reference.labels]
    assert np.array_equal(labels[clear], model.predict(X)[clear])
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    assert load_model(path).sha256 == machine.sha256
    return machine


BASES = [
    SVC(),
    LinearSVC(),
    LogisticRegression(),
    SGDClassifier(loss="log_loss", random_state=0),
    make_pipeline(StandardScaler(), SVC()),
    GridSearchCV(SVC(), {"C": [1]}, cv=2),
    CalibratedClassifierCV(SVC(), ensemble=False, cv=3),
]


@pytest.mark.parametrize("positive", [None, "good", "bad"])
@pytest.mark.parametrize("threshold", ["auto", 0.2, 0.7])
@pytest.mark.parametrize("base", BASES, ids=lambda base: type(base).__name__)
def test_a_fixed_threshold_has_scikit_learns_labels(base, threshold, positive, tmp_path):
    model = FixedThresholdClassifier(base, threshold=threshold, pos_label=positive)
    machine = assert_labels(fitted(model, X, NAMES), tmp_path)
    assert machine.kind == "FixedThresholdClassifier"
    assert machine.zero_is_positive is (positive != "bad")


def test_a_fixed_threshold_takes_the_response_that_was_asked_for(tmp_path):
    for method in ("decision_function", "predict_proba"):
        model = FixedThresholdClassifier(
            LogisticRegression(), threshold=0.3, response_method=method
        ).fit(X, Y)
        threshold = assert_labels(model, tmp_path).threshold
        expected = 0.3 if method == "decision_function" else np.log(0.3 / 0.7)
        assert abs(threshold - expected) <= 8 * 2.0**-53


def test_an_estimator_fitted_before_needs_no_fit(tmp_path):
    assert_labels(FixedThresholdClassifier(SVC().fit(X, Y), threshold=0.5), tmp_path)


@pytest.mark.parametrize("base", [SVC(), LogisticRegression()], ids=str)
@pytest.mark.parametrize(
    ("scoring", "y"),
    [
        ("balanced_accuracy", NAMES),
        ("f1", Y),
        (make_scorer(f1_score, pos_label="bad"), NAMES),
        (make_scorer(f1_score, pos_label="good"), NAMES),
    ],
    ids=["accuracy", "f1", "bad", "good"],
)
def test_a_tuned_threshold_has_scikit_learns_labels(base, scoring, y, tmp_path):
    model = TunedThresholdClassifierCV(base, scoring=scoring, cv=2, thresholds=20)
    machine = assert_labels(fitted(model, X, y), tmp_path)
    assert machine.kind == "TunedThresholdClassifierCV"


def test_a_score_whose_positive_class_is_not_told_is_refused():
    model = TunedThresholdClassifierCV(SVC(), cv=2, thresholds=5).fit(X, 1 + Y)
    with pytest.raises(InputError, match="does not tell whether 1 or the other class"):
        load_model(model)


@pytest.mark.filterwarnings("ignore:The `probability` parameter")
def test_probabilities_that_are_not_the_logistic_functions_are_refused():
    for base in (SVC(probability=True), SGDClassifier(loss="modified_huber")):
        model = FixedThresholdClassifier(base, threshold=0.3).fit(X, Y)
        with pytest.raises(InputError, match="compares probabilities that are not 1"):
            load_model(model)
        model.response_method = "decision_function"
        load_model(model)


@pytest.mark.parametrize("threshold", [0.0, 1.0, -1.0])
def test_a_probability_that_every_or_no_sample_reaches_is_refused(threshold):
    model = FixedThresholdClassifier(LogisticRegression(), threshold=threshold).fit(X, Y)
    with pytest.raises(InputError, match="must be a probability between 0 and 1"):
        load_model(model)


def test_a_threshold_of_many_classes_is_refused():
    model = FixedThresholdClassifier(SVC(), threshold=0.5).fit(X, Y)
    model.estimator_ = SVC().fit(*load_iris(return_X_y=True))
    with pytest.raises(InputError, match="has a SVC of one-vs-one with threshold 0, must have"):
        load_model(model)


def test_a_positive_label_that_is_no_class_is_refused():
    model = FixedThresholdClassifier(SVC(), threshold=0.5).fit(X, Y)
    model.pos_label = "malign"
    with pytest.raises(InputError, match="pos_label is 'malign', must be one of 0, 1"):
        load_model(model)


def test_the_score_of_a_tuned_threshold_of_1_5_lies_in_another_module(tmp_path):
    model = TunedThresholdClassifierCV(SVC(), cv=2, thresholds=5).fit(X, Y)
    own = b"csklearn.metrics._scorer\n_CurveScorer\n"
    content = pickle.dumps(model, 0)
    assert own in content
    path = tmp_path / "model.pkl"
    older = b"csklearn.model_selection._classification_threshold\n_CurveScorer\n"
    path.write_bytes(content.replace(own, older))
    assert load_model(path).sha256 == load_model(model).sha256
