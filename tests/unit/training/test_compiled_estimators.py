"""Estimators of routed machines as the compiler reads them: their C gives their answers."""

from __future__ import annotations

import pickle
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_wine
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import kmcompile
from kmcompile.errors import InputError
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model
from kmcompile.training import DCPredClassifier, DCPredRegressor, FaLKSVC
from kmcompile.training.model_selection import Grid


def cancer() -> tuple[np.ndarray, np.ndarray]:
    """Return scaled features of breast_cancer and their labels."""
    X, y = load_breast_cancer(return_X_y=True)
    return np.float32((X - X.mean(axis=0)) / X.std(axis=0))[:, :8].astype(np.float64), y


_ONE_WIDTH = {"polish": False, "linear_term": False}
CLASSIFIERS = [
    FaLKSVC(k=60, gamma=0.2, selection="nearest_centre", random_state=0),
    FaLKSVC(k=60, k_prime=5, gamma=0.2, route="two_levels", random_state=0),
    FaLKSVC(k=60, kernel="linear", random_state=0),
    FaLKSVC(local_model_selection=True, grid=Grid([40, 80], [1.0, 4.0]), random_state=0),
    DCPredClassifier(4, 6, random_state=0, **_ONE_WIDTH),
    DCPredClassifier(4, 6, linear_term=False, polish_steps=5, random_state=0),
    DCPredClassifier(4, 6, polish_steps=5, random_state=0),
    DCPredClassifier(4, 6, pseudo_landmarks="products", polish_steps=5, random_state=0),
]


@cache
def fitted(model: Any) -> Any:
    """Return a classifier that was fitted to the first 400 samples, for all tests of it."""
    X, y = cancer()
    return model.fit(X[:400], y[:400])


@pytest.mark.few
@pytest.mark.parametrize("model", CLASSIFIERS, ids=str)
def test_the_machine_and_its_c_give_the_classifiers_labels(model):
    X, _ = cancer()
    model = fitted(model)
    reference = evaluate(load_model(model), np.float32(X[400:]))
    expected = model.decision_function(X[400:])
    known = np.isfinite(reference.error[:, 0])
    error = np.abs(reference.decisions[:, 0] - expected)
    # Both are float64 sums: twice the bound on one of them.
    assert (error <= 2 * reference.error[:, 0])[known].all()
    compiled = kmcompile.compile_model(model, target="host", name="cells", format="float32")
    result = compiled.classify(np.float32(X[400:]))
    sure = result["certified"]
    assert sure.mean() > 0.9
    assert (result["label"][sure] == model.predict(X[400:])[sure]).all()


def test_a_regression_of_leaves_gives_its_values():
    X, y = load_diabetes(return_X_y=True)
    X = np.float32(X).astype(np.float64)
    model = DCPredRegressor(4, 6, pseudo_landmarks="products", polish_steps=5, random_state=0)
    model.fit(X[:300], y[:300])
    reference = evaluate(load_model(model), np.float32(X[300:]))
    error = np.abs(reference.decisions[:, 0] - model.predict(X[300:]))
    assert (error <= 2 * reference.error[:, 0]).all()
    compiled = kmcompile.compile_model(model, target="host", name="cells", format="float32")
    assert compiled.report["verification"]["exact"]["host"]["mismatches"] == 0


def test_more_classes_of_one_vs_rest_leaves_are_compiled_behind_a_scaler():
    X, y = load_wine(return_X_y=True)
    model = make_pipeline(StandardScaler(), DCPredClassifier(3, 5, random_state=0, **_ONE_WIDTH))
    model.fit(X, y)
    compiled = kmcompile.compile_model(model, target="host", name="cells", format="float32")
    result = compiled.classify(np.float32(X))
    sure = result["certified"]
    assert sure.mean() > 0.9
    assert (result["label"][sure] == model.predict(np.float32(X))[sure]).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("model", [CLASSIFIERS[0], CLASSIFIERS[3]], ids=str)
def test_a_pickled_estimator_is_read_without_running_it(model, tmp_path):
    model = fitted(model)
    (tmp_path / "cells.pkl").write_bytes(pickle.dumps(model))
    assert load_model(tmp_path / "cells.pkl").sha256 == load_model(model).sha256


@pytest.mark.exhaustive
@pytest.mark.parametrize("route", ["flat", "two_levels"])
def test_leaves_that_vote_among_their_own_classes_are_compiled(route):
    X, y = load_digits(return_X_y=True)
    model = FaLKSVC(60, 30, C=10.0, gamma=0.001, route=route, random_state=0)
    model.fit(X[:1000], y[:1000])
    assert 2 < model.leaf_classes_.sum(axis=1).max() < 10
    compiled = kmcompile.compile_model(model, target="host", name="cells", format="float32")
    assert compiled.report["verification"]["exact"]["host"]["mismatches"] == 0
    result = compiled.classify(np.float32(X))
    sure = result["certified"]
    assert sure.mean() > 0.9
    assert (result["label"][sure] == model.predict(X)[sure]).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "model",
    [pytest.param(CLASSIFIERS[3], marks=pytest.mark.exhaustive), *CLASSIFIERS[5:8]],
    ids=str,
)
def test_certified_labels_of_integers_are_the_classifiers(model):
    X, _ = cancer()
    model = fitted(model)
    compiled = kmcompile.compile_model(model, target="host", name="cells", format="int16")
    result = compiled.classify(np.float32(X[400:]))
    sure = result["certified"]
    assert sure.mean() > 0.8
    assert (result["label"][sure] == model.predict(X[400:])[sure]).all()


def test_a_regression_of_leaves_in_integers_is_as_near_as_it_says():
    X, y = load_diabetes(return_X_y=True)
    X, y = np.float32(X).astype(np.float64), y / y.std()
    model = DCPredRegressor(4, 6, pseudo_landmarks="products", polish_steps=5, random_state=0)
    model.fit(X[:300], y[:300])
    compiled = kmcompile.compile_model(model, target="host", name="cells", format="int16")
    assert compiled.report["verification"]["exact"]["host"]["mismatches"] == 0
    bounded = compiled.report["verification"]["bounded"]
    assert bounded["max_error"] <= bounded["max_bound"]


@pytest.mark.exhaustive
@pytest.mark.parametrize("model", [CLASSIFIERS[0], CLASSIFIERS[7]], ids=str)
def test_the_format_of_local_machines_is_chosen_for_the_board(model):
    model = fitted(model)
    compiled = kmcompile.compile_model(
        model, target="cortex-m0", name="cells", format="auto", verify="none"
    )
    formats = compiled.report["formats"]
    assert [row["format"] for row in formats] == ["float32", "int16", "int8"]


def test_an_estimator_that_is_not_fitted_is_refused():
    with pytest.raises(InputError, match="FaLKSVC is not fitted"):
        load_model(FaLKSVC())
