"""The l1 penalty against its optimality conditions and a generic minimiser."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from one_norm import largest_penalty, one_norm, one_norm_path
from problem import Problem, problem_of, select
from scipy.optimize import minimize

from kit.reductions import KERNELS, TASKS, least_squares, small_machine
from kmcompile.kernels import Kernel, Rbf
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import Task
from kmcompile.model.normals import Normals
from kmcompile.passes.reduction.pools import joint_pools, separate_pools


def problem(task: Task, kernel: Kernel = KERNELS[0], n: int = 12) -> Problem:
    machine = small_machine(task, kernel, n=n)
    return problem_of(joint_pools(machine)[0], Normals.of(machine))[0]


@pytest.mark.parametrize("share", [0.8, 0.3, 0.05])
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("task", [Task.BINARY, Task.ONE_VS_REST])
def test_the_weights_meet_the_conditions_of_an_optimum(
    task: Task, kernel: Kernel, share: float
) -> None:
    of = problem(task, kernel, n=24)
    penalty = share * largest_penalty(of)
    weights = one_norm(penalty)(of)
    slopes = 2 * (of.products - of.gram @ weights)
    sizes = np.sqrt((weights**2).sum(axis=1))
    chosen = sizes > 0
    assert 0 < chosen.sum() <= 24
    expected = penalty * weights[chosen] / sizes[chosen, None]
    assert_allclose(slopes[chosen], expected, atol=2e-3 * penalty)
    assert (np.sqrt((slopes[~chosen] ** 2).sum(axis=1)) <= penalty * 1.002).all()


def test_no_generic_minimiser_finds_less() -> None:
    of = problem(Task.BINARY)
    penalty = 0.2 * largest_penalty(of)

    def objective(parts: np.ndarray) -> float:
        """Positive and negative parts of the weights."""
        return of.loss((parts[:12] - parts[12:])[:, None]) + penalty * parts.sum()

    weights = one_norm(penalty)(of)
    found = of.loss(weights) + penalty * np.abs(weights).sum()
    least = minimize(objective, np.full(24, 0.1), bounds=[(0, None)] * 24, tol=1e-12).fun
    assert_allclose(found, least, rtol=1e-5)


def test_nearly_singular_gram_matrices_are_no_obstacle() -> None:
    machine = small_machine(Task.BINARY, Rbf(1e-3), n=60, n_features=2)
    of = problem_of(joint_pools(machine)[0], Normals.of(machine))[0]
    assert np.linalg.cond(of.gram) > 1e14
    for share in (0.5, 0.01, 1e-4):
        penalty = share * largest_penalty(of)
        weights = one_norm(penalty)(of)[:, 0]
        slopes = 2 * (of.products[:, 0] - of.gram @ weights)
        assert 0 < np.count_nonzero(weights) < 60
        assert (np.abs(slopes) <= penalty * 1.001).all()
        assert_allclose(slopes[weights != 0] * np.sign(weights[weights != 0]), penalty, rtol=1e-3)


def test_a_path_is_each_of_its_penalties_and_ends_with_nothing() -> None:
    of = problem(Task.ONE_VS_REST)
    penalties = [share * largest_penalty(of) for share in (0.1, 1.0001, 0.5)]
    path = one_norm_path(of, penalties)
    assert (path[1] == 0).all()
    for penalty, weights in zip(penalties, path, strict=True):
        assert_allclose(weights, one_norm(penalty)(of), atol=2e-3)


@pytest.mark.parametrize("task", TASKS)
def test_the_machine_has_the_best_weights_of_the_chosen(task: Task) -> None:
    machine = small_machine(task, n=12)
    for pools in (joint_pools(machine), separate_pools(machine)):
        reduced = select(machine, one_norm(0.4), pools, refit=True)
        assert 0 < reduced.n_support_vectors <= 12
        rows = [
            int(np.flatnonzero((machine.support_vectors == row).all(axis=1))[0])
            for row in reduced.support_vectors
        ]
        spread = decision_coefficients(reduced)
        for pool in pools:
            for p in pool.decisions:
                own = np.flatnonzero(spread[p])
                best, _ = least_squares(machine, [rows[t] for t in own])
                assert_allclose(spread[p, own], best[p], rtol=1e-6, atol=1e-8)
