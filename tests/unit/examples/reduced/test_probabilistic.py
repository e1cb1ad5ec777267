"""Matching pursuit among a few random vectors, against the search of all."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from probabilistic import pursue_some

from kit.reductions import TASKS, least_squares, left_of, small_machine
from kmcompile.kernels import Poly, Rbf
from kmcompile.model.kernel_machine import Task
from kmcompile.model.normals import Normals
from kmcompile.passes.reduction.pools import separate_pools
from kmcompile.passes.reduction.pursuit import pursue


@pytest.mark.parametrize("task", TASKS)
def test_among_all_vectors_it_is_the_full_search(task: Task) -> None:
    machine = small_machine(task, n=40)
    full, some = pursue(machine, 30), pursue_some(machine, 30, n_candidates=40)
    assert some.order.tolist() == full.order.tolist()
    assert_allclose(some.coefficients(30), full.coefficients(30), rtol=1e-6, atol=1e-8)
    assert_allclose(left_of(some, 30), left_of(full, 30), atol=1e-11 * full.squares.max())


@pytest.mark.parametrize("task", TASKS)
def test_weights_and_residuals_are_those_of_dense_least_squares(task: Task) -> None:
    machine = small_machine(task, n=20)
    for pools in (None, separate_pools(machine)):
        selection = pursue_some(machine, 12, n_candidates=4, pools=pools)
        assert len(selection) == 12
        spread, left = least_squares(machine, selection.order.tolist(), pools)
        assert_allclose(selection.coefficients(12), spread, rtol=1e-7, atol=1e-8)
        assert_allclose(left_of(selection, 12), left, atol=1e-11 * selection.squares.max())


def test_it_ends_when_all_vectors_are_in_the_span() -> None:
    machine = small_machine(Task.BINARY, Poly(0.5, 1.0, 2), n=60, n_features=2)
    selection = pursue_some(machine, 60, n_candidates=5)
    assert len(selection) == 6
    assert (left_of(selection, 6) <= 1e-10 * selection.squares).all()


def test_a_seed_gives_the_same_vectors_again() -> None:
    machine = small_machine(Task.BINARY, n=200)
    first, again, other = (pursue_some(machine, 20, 8, seed) for seed in (1, 1, 2))
    assert (first.order == again.order).all()
    assert (first.order != other.order).any()


def test_nearly_every_choice_is_among_the_best_twentieth() -> None:
    machine = small_machine(Task.BINARY, Rbf(0.05), n=400, n_features=10)
    order = pursue_some(machine, 40).order
    normals = Normals.of(machine)
    gram = machine.kernel.values(machine.support_vectors, machine.support_vectors)
    within = 0
    for t, vector in enumerate(order):
        chosen = order[:t]
        beta = np.linalg.solve(gram[np.ix_(chosen, chosen)], normals.products[chosen, 0])
        gains = (normals.products[:, 0] - gram[:, chosen] @ beta) ** 2
        rest = np.setdiff1d(np.arange(400), chosen)
        within += gains[vector] >= np.quantile(gains[rest], 0.95)
    # The expected number is 38; fewer than 33 has a probability of 1 %.
    assert within >= 33
