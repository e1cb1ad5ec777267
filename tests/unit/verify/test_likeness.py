"""Test samples that are unlike --data are told of, and others hardly ever."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from kmcompile.readers import load_model
from kmcompile.verify import likeness
from kmcompile.verify.likeness import beyond_promise, unlike_data, unlike_vectors

TRIALS = 500


def normal(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=(n, 5)).astype(np.float32)


def repeated(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return counts, of which many are equal."""
    return rng.poisson(0.5, size=(n, 5)).astype(np.float32)


def copied(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return rows each of which is there ten times, as in windows of a recording."""
    return np.repeat(normal(rng, -(-n // 10)), 10, axis=0)[:n]


@pytest.mark.exhaustive
@pytest.mark.parametrize("draw", [normal, repeated, copied])
@pytest.mark.parametrize(("n", "m"), [(30, 10), (200, 400)])
def test_samples_of_one_distribution_hardly_ever_raise_an_alarm(monkeypatch, draw, n, m) -> None:
    monkeypatch.setattr(likeness, "FALSE_ALARM", 0.05)
    rng = np.random.default_rng([n, m])
    alarms = sum(bool(unlike_data(draw(rng, n), draw(rng, m))) for _ in range(TRIALS))
    assert alarms <= binom.ppf(0.999, TRIALS, 0.05)


def test_another_distribution_is_named_with_its_feature() -> None:
    rng = np.random.default_rng(0)
    data, tests = normal(rng, 500), normal(rng, 500)
    tests[:, 3] *= 3
    told = unlike_data(data, tests)
    assert told.startswith("the test samples are not like --data: 1 of 5 features are distributed")
    assert "feature 3 most (with 99.9 % confidence)" in told


def test_digits_of_other_classes_are_unlike_and_those_of_the_same_are_not() -> None:
    X, y = load_digits(return_X_y=True)
    X = np.float32(X)[np.random.default_rng(1).permutation(len(X))]
    assert unlike_data(X[:900], X[900:]) == ""
    X = np.float32(load_digits().data)
    assert "of 64 features" in unlike_data(X[y < 5], X[y >= 5])


def test_without_samples_nothing_is_told() -> None:
    X = normal(np.random.default_rng(0), 10)
    assert unlike_data(X[:0], X) == unlike_data(X, X[:0]) == ""


def test_more_differing_labels_than_promised_are_told() -> None:
    assert beyond_promise(10, 1000, 0.01) == beyond_promise(0, 0, 0.01) == ""
    told = beyond_promise(53, 1486, 0.0289)
    assert told.startswith("53 of 1,486 test labels differ from the model's, 3.57 %: more than the")
    assert "the 2.89 % that is promised" in told


@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_samples_without_the_scaler_of_the_model_are_told_of(kernel) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    whole = make_pipeline(StandardScaler(), SVC(kernel=kernel)).fit(X[:200], y[:200])
    raw = X[200:].astype(np.float32)
    alone = unlike_vectors(load_model(whole[-1]), [raw[:0], raw])
    assert "% of the samples lie far outside what the model was trained on: feature " in alone
    assert "as given, is more than 10 times as far" in alone and "--before FILE" in alone
    assert unlike_vectors(load_model(whole), [raw[:50], raw[50:]]) == ""


def test_nothing_is_told_of_few_samples_or_of_linear_machines() -> None:
    X, y = load_breast_cancer(return_X_y=True)
    machine = load_model(SVC().fit(StandardScaler().fit_transform(X), y))
    raw = X.astype(np.float32)
    assert unlike_vectors(machine, [raw[:0], raw[:9]]) == ""
    assert unlike_vectors(load_model(LinearSVC().fit(X / 1000, y)), [raw]) == ""
