"""Calibrated classifiers: decisions are log odds, labels those of predict."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from scipy.special import logit
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_digits, load_iris
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.svm import SVC, SVR, LinearSVC, NuSVC

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model

TWO = tuple(part[::2] for part in load_breast_cancer(return_X_y=True))
THREE = load_iris(return_X_y=True)
TEN = tuple(part[:300] for part in load_digits(return_X_y=True))
U = 2.0**-53


def assert_calibrated(model, X, tmp_path):
    """Assert scikit-learn's probabilities and its labels where they are clear."""
    machine = load_model(model)
    reference = evaluate(machine, X)
    assert (machine.log_odds, machine.zero_is_positive, machine.last_of_equal) == (1, 0, 0)
    odds = 1 / (1 + np.exp(-reference.decisions))
    # The slope of the logistic function is at most 1/4, and it is worked out in a few operations.
    bound = reference.error / 2 + 8 * U
    if machine.task is Task.BINARY:
        expected, clear = model.predict_proba(X)[:, 1:], np.abs(reference.decisions[:, 0])
        assert np.all(np.abs(odds - expected) <= bound)
    else:
        # The quotient of odds and their sum s: relative errors of both.
        total = odds.sum(axis=1, keepdims=True)
        expected = model.predict_proba(X)
        relative = 2 * bound.sum(axis=1, keepdims=True) / total + 16 * U
        assert np.all(np.abs(odds / total - expected) <= bound / total + relative * expected)
        ordered = np.sort(reference.decisions, axis=1)
        clear = ordered[:, -1] - ordered[:, -2]
    # Equal probabilities of unequal log odds: rounding of the logistic function beside 0.
    sure = clear > 2 * reference.error.max(axis=1) + 8 * U
    saturated = odds.max(axis=1) > 1 - 2.0**-40
    labels = np.array(machine.classes)[reference.labels]
    if machine.task is not Task.BINARY:
        sure &= ~saturated
    assert sure.mean() > 0.5
    assert np.array_equal(labels[sure], model.predict(X)[sure])
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model))
    assert load_model(path).sha256 == machine.sha256
    return machine


BINARY = [
    make_pipeline(StandardScaler(), SVC()),
    NuSVC(kernel="poly"),
    make_pipeline(StandardScaler(), LinearSVC()),
    RidgeClassifier(),
    make_pipeline(StandardScaler(), LogisticRegression()),
]


@pytest.mark.parametrize("base", BINARY, ids=str)
def test_two_classes_have_scikit_learns_probability(base, tmp_path):
    model = CalibratedClassifierCV(base, ensemble=False).fit(*TWO)
    machine = assert_calibrated(model, TWO[0], tmp_path)
    assert (machine.kind, machine.task) == ("CalibratedClassifierCV", Task.BINARY)


@pytest.mark.parametrize("data", [THREE, TEN], ids=["iris", "digits"])
@pytest.mark.parametrize(
    "base",
    [
        OneVsRestClassifier(SVC()),
        RidgeClassifier(),
        make_pipeline(StandardScaler(), OneVsRestClassifier(SVC(kernel="poly"))),
    ],
    ids=str,
)
def test_many_classes_have_scikit_learns_probabilities(base, data, tmp_path):
    model = CalibratedClassifierCV(base, ensemble=False, cv=3).fit(*data)
    assert assert_calibrated(model, data[0], tmp_path).task is Task.ONE_VS_REST


def test_a_classifier_that_was_fitted_before_is_calibrated(tmp_path):
    fitted = make_pipeline(StandardScaler(), SVC()).fit(*TWO)
    model = CalibratedClassifierCV(FrozenEstimator(fitted), ensemble=False).fit(*TWO)
    assert_calibrated(model, TWO[0], tmp_path)
    assert load_model(FrozenEstimator(fitted)).sha256 == load_model(fitted).sha256


def test_a_slope_that_flips_the_sign_is_kept(tmp_path):
    model = CalibratedClassifierCV(SVC(), ensemble=False).fit(*TWO)
    calibrator = model.calibrated_classifiers_[0].calibrators[0]
    calibrator.a_ = -calibrator.a_
    assert_calibrated(model, TWO[0], tmp_path)


def test_equal_probabilities_give_the_first_class():
    model = CalibratedClassifierCV(LinearSVC(), ensemble=False).fit(*TWO)
    calibrator = model.calibrated_classifiers_[0].calibrators[0]
    calibrator.a_, calibrator.b_ = 0.0, 0.0
    assert set(model.predict(TWO[0])) == {0}
    assert set(evaluate(load_model(model), TWO[0]).labels) == {0}


def test_files_before_names_changed_are_read():
    """scikit-learn 1.2 has `estimator`, before it was `base_estimator`."""
    model = CalibratedClassifierCV(SVC(), ensemble=False).fit(*TWO)
    expected = load_model(model).sha256
    pair = model.calibrated_classifiers_[0]
    pair.base_estimator, pair.calibrators_ = pair.estimator, pair.calibrators
    del pair.estimator, pair.calibrators
    assert load_model(model).sha256 == expected


@pytest.mark.parametrize(
    ("model", "data", "words"),
    [
        (CalibratedClassifierCV(SVC(), ensemble=True), TWO, "an ensemble of 5 classifiers, must"),
        (CalibratedClassifierCV(SVC(), method="isotonic", ensemble=False), TWO, "has method='iso"),
        (CalibratedClassifierCV(SVC(), method="temperature", ensemble=False), TWO, "method='temp"),
        (CalibratedClassifierCV(SVC(), ensemble=False), THREE, "votes of a one-vs-one SVC, which"),
        (
            CalibratedClassifierCV(CalibratedClassifierCV(SVC(), ensemble=False), ensemble=False),
            TWO,
            "is calibrated or has a threshold already",
        ),
    ],
    ids=["ensemble", "isotonic", "temperature", "votes", "twice"],
)
def test_other_calibrations_are_refused_with_their_reason(model, data, words, tmp_path):
    path = tmp_path / "model.pkl"
    path.write_bytes(pickle.dumps(model.fit(*data)))
    for source in (model, path):
        with pytest.raises(InputError, match=words):
            load_model(source)


def test_unfitted_and_damaged_calibrations_are_refused():
    model = CalibratedClassifierCV(SVC(), ensemble=False)
    with pytest.raises(InputError, match=r"is not fitted \(calibrated_classifiers_ is missing"):
        load_model(model)
    model.fit(*TWO)
    for name, value in [("a_", np.nan), ("b_", np.inf), ("a_", "1"), ("b_", None)]:
        damaged = copy.deepcopy(model)
        setattr(damaged.calibrated_classifiers_[0].calibrators[0], name, value)
        with pytest.raises(InputError, match=rf"calibrators\[0\]\.{name} is"):
            load_model(damaged)
    damaged = copy.deepcopy(model)
    damaged.calibrated_classifiers_[0].estimator = SVR().fit(*TWO)
    with pytest.raises(InputError, match="calibrates a SVR, must be a classifier"):
        load_model(damaged)


@pytest.mark.parametrize("data", [TWO, TEN], ids=["two", "ten"])
def test_one_vs_rest_of_logistic_regressions_has_their_probabilities(data, tmp_path):
    X = scale(data[0])
    assert_calibrated(OneVsRestClassifier(LogisticRegression()).fit(X, data[1]), X, tmp_path)


def test_a_logistic_regression_of_two_classes_has_log_odds():
    X = scale(TWO[0])
    model = LogisticRegression().fit(X, TWO[1])
    machine = load_model(model)
    assert machine.log_odds
    odds = evaluate(machine, X)
    expected = logit(model.predict_proba(X)[:, 1])
    beside = np.abs(expected) < 5  # logit of a rounded probability p is off by U / (p (1 - p))
    bound = odds.error[:, 0] + 4 * U * np.exp(5) ** 2
    assert np.all(np.abs(odds.decisions[:, 0] - expected)[beside] <= bound[beside])
    assert not load_model(LogisticRegression(max_iter=500).fit(*THREE)).log_odds


def test_labels_where_sigmoids_are_saturated_are_those_of_the_log_odds():
    model = CalibratedClassifierCV(LinearSVC(), ensemble=False, cv=3).fit(*THREE)
    machine = load_model(model)
    far = 1000 * np.random.default_rng(0).standard_normal((500, 4))
    reference = evaluate(machine, far)
    saturated = (reference.decisions > 40).sum(axis=1) > 1
    first = (reference.decisions > 40).argmax(axis=1)
    assert np.any(first[saturated] != reference.labels[saturated])
    np.testing.assert_array_equal(model.predict(far)[saturated], first[saturated])
    assert any("takes the first of them" in note for note in machine.notes)
