"""Support vectors that no decision uses are left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.datasets import load_iris
from sklearn.svm import SVC

from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.reference import evaluate
from kmcompile.passes import run_passes
from kmcompile.passes.drop_unused_vectors import drop_unused_vectors
from kmcompile.readers import load_model


def iris(n_classes: int):
    X, y = load_iris(return_X_y=True)
    return load_model(SVC(gamma=0.5).fit(X[: 50 * n_classes], y[: 50 * n_classes]))


def without(machine, vectors):
    coefficients = machine.dual_coef.copy()
    coefficients[:, vectors] = 0.0
    return replace(machine, dual_coef=coefficients)


def test_decisions_stay_the_same_with_two_classes_and_more():
    X = load_iris(return_X_y=True)[0].astype(np.float32)
    for n_classes in (2, 3):
        machine = without(iris(n_classes), [0, 2, -1])
        dropped = drop_unused_vectors(machine)
        assert dropped.n_support_vectors == machine.n_support_vectors - 3
        trained, now = evaluate(machine, X), evaluate(dropped, X)
        assert (np.abs(trained.decisions - now.decisions) <= trained.error + now.error).all()
        sums, kept = (np.sort(np.abs(decision_coefficients(m)).T[:, 0]) for m in (machine, dropped))
        assert (sums[3:] == kept).all()
    assert dropped.notes[-1] == "3 support vectors with coefficients of 0 left out"


def test_one_vector_stays_where_all_coefficients_are_0():
    machine = iris(2)
    dropped = drop_unused_vectors(without(machine, slice(None)))
    assert dropped.n_support_vectors == 1


def test_a_machine_that_uses_every_vector_stays_itself():
    machine = iris(3)
    assert drop_unused_vectors(machine) is machine


def test_equal_vectors_of_both_classes_whose_coefficients_cancel_leave_the_machine():
    machine = iris(2)
    vectors, beta = machine.support_vectors.copy(), machine.dual_coef.copy()
    vectors[1], beta[0, 1] = vectors[0], -beta[0, 0]
    passed = run_passes(replace(machine, support_vectors=vectors, dual_coef=beta))
    assert passed.n_support_vectors == machine.n_support_vectors - 2
