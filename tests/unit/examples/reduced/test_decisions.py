"""Weights fitted to decisions: least squares by brute force, and what they do for likely inputs."""

from __future__ import annotations

import numpy as np
import pytest
from decisions import with_fitted_decisions
from numpy.testing import assert_allclose

from kit.reductions import TASKS, small_machine
from kmcompile.errors import UsageError
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import evaluate
from kmcompile.passes.reduction.pools import joint_pools
from kmcompile.passes.reduction.pursuit import pursue

X = np.random.default_rng(1).normal(size=(60, 4))


def case(task: Task) -> tuple[KernelMachine, KernelMachine]:
    original = small_machine(task, n=15)
    return original, pursue(original, 8).reduced(8)


@pytest.mark.parametrize("task", TASKS)
def test_they_are_those_of_dense_least_squares(task: Task) -> None:
    original, reduced = case(task)
    fitted = with_fitted_decisions(reduced, original, X, ridge=1e-13)
    wanted = evaluate(original, X).decisions - original.intercept
    values = reduced.kernel.values(reduced.support_vectors, X)
    for pool in joint_pools(reduced):
        solved = np.linalg.lstsq(values[:, pool.vectors], wanted[:, pool.decisions], rcond=None)[0]
        found = decision_coefficients(fitted)[np.ix_(pool.decisions, pool.vectors)]
        assert_allclose(found, solved.T, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("task", TASKS)
def test_the_mean_square_difference_is_smaller_on_the_samples(task: Task) -> None:
    original, reduced = case(task)
    fitted = with_fitted_decisions(reduced, original, X)
    wanted, was, now = (evaluate(m, X).decisions for m in (original, reduced, fitted))
    assert (((now - wanted) ** 2).mean(axis=0) < ((was - wanted) ** 2).mean(axis=0)).all()


def test_with_few_samples_the_weights_stay_near_what_they_were() -> None:
    original, reduced = case(Task.BINARY)
    for ridge, least, most in ((1e8, 0.0, 1e-6), (1e-6, 1e-3, 1.0)):
        fitted = with_fitted_decisions(reduced, original, X[:2], ridge)
        change = np.abs(fitted.dual_coef - reduced.dual_coef).max()
        assert least <= change / np.abs(reduced.dual_coef).max() <= most
    with pytest.raises(UsageError, match="0 samples"):
        with_fitted_decisions(reduced, original, X[:0])
