"""A machine beside the estimator that it was read from."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse
from float64_decisions import decisions_and_bounds, labels

from kmcompile.model.kernel_machine import Task
from kmcompile.readers import load_model


def fitted(estimator, X, y):
    """Return the estimator, fitted without warnings."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return estimator.fit(X, y)


def assert_agrees(model, X):
    """Assert equal values, and equal labels where no rounding can change them."""
    machine = load_model(model)
    decisions, bounds = decisions_and_bounds(machine, X)
    queries = scipy.sparse.csr_matrix(X) if getattr(model, "_sparse", False) else X
    if machine.task is Task.REGRESSION:
        assert np.all(np.abs(decisions[:, 0] - model.predict(queries)) <= bounds[:, 0])
        return machine
    if hasattr(model, "decision_function_shape"):
        model.decision_function_shape = "ovo"
    expected = model.decision_function(queries).reshape(len(X), -1)
    assert np.all(np.abs(decisions - expected) <= bounds)
    clear = np.all(np.abs(decisions) > bounds, axis=1)
    if machine.task is Task.ONE_VS_REST:
        ordered, margin = np.sort(decisions, axis=1), bounds.max(axis=1)
        clear = ordered[:, -1] - ordered[:, -2] > 2 * margin
    assert np.array_equal(labels(machine, decisions)[clear], model.predict(queries)[clear])
    return machine
