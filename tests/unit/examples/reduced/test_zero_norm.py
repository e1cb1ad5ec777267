"""The l0 penalty: lossless to the rank, lossy near the best subset of its size."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from problem import Problem, select
from sklearn.svm import SVC
from zero_norm import zero_norm

from kit.reductions import TASKS, relative_left, small_machine
from kmcompile.kernels import Linear, Poly
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.readers import load_model


@pytest.mark.parametrize("n", [100, 300])
def test_the_machine_of_figure_1_keeps_a_vector_a_dimension(n: int) -> None:
    rng = np.random.default_rng(n)
    means = np.array([[-1.0] * 5 + [0.0] * 5, [1.0] * 5 + [0.0] * 5])
    y = np.arange(n) % 2
    X = means[y] + rng.normal(scale=4.0, size=(n, 10))
    machine = load_model(SVC(kernel="linear", C=1.0).fit(X, y))
    assert machine.n_support_vectors > n / 3
    reduced = select(machine, zero_norm(), refit=False)
    assert reduced.n_support_vectors == 10
    was, now = evaluate(machine, X), evaluate(reduced, X)
    assert_allclose(now.decisions, was.decisions, atol=1e-6)


@pytest.mark.parametrize("task", [Task.BINARY, Task.ONE_VS_REST, Task.REGRESSION])
def test_no_fewer_vectors_would_do_without_loss(task: Task) -> None:
    machine = small_machine(task, Linear(), n=8, n_features=3)
    reduced = select(machine, zero_norm())
    n = reduced.n_support_vectors
    assert min(relative_left(machine, some) for some in combinations(range(8), n)) < 1e-12
    assert min(relative_left(machine, some) for some in combinations(range(8), n - 1)) > 1e-9


@pytest.mark.parametrize("task", TASKS)
def test_a_machine_of_full_rank_stays_the_same(task: Task) -> None:
    machine = small_machine(task)
    X = np.random.default_rng(1).normal(size=(20, 4))
    same = select(machine, zero_norm(), refit=False)
    assert same.n_support_vectors == 9
    assert_allclose(evaluate(same, X).decisions, evaluate(machine, X).decisions, atol=1e-8)


@pytest.mark.parametrize("penalty", [0.001, 0.01, 0.05])
def test_orthogonal_vectors_are_chosen_by_the_size_of_their_weights(penalty: float) -> None:
    start = np.linspace(0.05, 0.9, 12)[:, None]
    weights = zero_norm(penalty)(Problem(np.eye(12), start, start))
    # Fixed points are the roots of b^2 + penalty = a b.
    bound = 2 * np.sqrt(penalty)
    assert ((weights[:, 0] > 0) == (start[:, 0] > bound)).all()
    a = start[start > bound]
    assert_allclose(weights[weights > 0], (a + np.sqrt(a**2 - 4 * penalty)) / 2, rtol=1e-4)


def test_a_penalty_that_is_too_large_leaves_nothing() -> None:
    start = np.linspace(0.05, 0.9, 12)[:, None]
    assert not zero_norm(0.3)(Problem(np.eye(12), start, start)).any()


@pytest.mark.parametrize("kernel", [Poly(0.5, 1.0, 2)])
@pytest.mark.parametrize("seed", range(4))
def test_a_penalty_leaves_vectors_near_the_best_of_their_number(kernel, seed: int) -> None:
    machine = small_machine(Task.BINARY, kernel, n=10, seed=seed)
    sizes = []
    for penalty in (1e-4, 1e-3, 1e-2):
        weights = select(machine, zero_norm(penalty))
        n = weights.n_support_vectors
        rows = [
            int(np.flatnonzero((machine.support_vectors == row).all(axis=1))[0])
            for row in weights.support_vectors
        ]
        found = sorted(relative_left(machine, some) for some in combinations(range(10), n))
        # Among the best fifth of all subsets of this size.
        assert relative_left(machine, rows) <= found[len(found) // 5] + 1e-12
        sizes.append(n)
    assert sizes == sorted(sizes, reverse=True)
