"""Machines whose features differ so much that their own norm is the limit, not one for all."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

import kmcompile
from kmcompile.program.interpreter import Status, interpret


@pytest.fixture(scope="module")
def sensor():
    """Return a poly SVC of degree 9 on sensors at 1000 +- 0.01 and its data."""
    rng = np.random.default_rng(5)
    X = 1000.0 + 0.01 * rng.normal(size=(80, 3))
    X = X.astype(np.float32).astype(float)
    model = make_pipeline(StandardScaler(), SVC(kernel="poly", degree=9, coef0=1.0, gamma=0.3))
    model.fit(X, (X[:, 0] > X[:, 1]).astype(int))
    return kmcompile.compile_model(model, name="sensor", target="host"), X


@pytest.mark.exhaustive
def test_what_the_model_was_trained_with_is_answered(sensor):
    compiled, X = sensor
    assert compiled.program.prepare.prepared_limit is not None
    assert (compiled.classify(X)["status"] == Status.OK).all()


@pytest.mark.exhaustive
def test_inputs_beyond_the_prepared_limit_are_refused_by_c_and_interpreter_alike(sensor):
    compiled, X = sensor
    away = X + 0.01 * 2.0 ** np.arange(len(X))[:, None]
    asked = away.astype(np.float32)
    expected = interpret(compiled.program, asked).results
    found = compiled.classify(away)
    assert set(expected["status"]) == {Status.OK, Status.ERROR_RANGE}
    assert all((found[name] == expected[name]).all() for name in found.dtype.names)
    limit = compiled.program.prepare.limit
    refused = expected["status"] == Status.ERROR_RANGE
    assert (np.abs(asked[refused]).max(axis=1) <= limit).any()
