"""Matching pursuit against dense least squares, exhaustive search and scikit-learn."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.linear_model import orthogonal_mp_gram

from kit.reductions import (
    KERNELS,
    TASKS,
    features,
    least_squares,
    left_of,
    relative_left,
    small_machine,
)
from kmcompile.errors import InputError, UsageError
from kmcompile.kernels import Kernel, Poly, Sigmoid
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import evaluate
from kmcompile.passes.reduction.pools import joint_pools, separate_pools
from kmcompile.passes.reduction.pursuit import RULES, Rule, pursue


def gain(machine: KernelMachine, chosen: list[int], vector: int, rule: Rule) -> float:
    """Return what a rule says that a vector takes of the sum of relative |W_p - W^_p|^2."""
    if rule == "orthogonal_least_squares":
        return relative_left(machine, chosen) - relative_left(machine, [*chosen, vector])
    phi, beta = features(machine), decision_coefficients(machine)
    spread = least_squares(machine, chosen)[0]
    total = 0.0
    for pool in joint_pools(machine):
        if vector in pool.vectors:
            for p in pool.decisions:
                W = phi.T @ beta[p]
                left = W - phi[chosen].T @ spread[p]
                total += (left @ phi[vector]) ** 2 / (phi[vector] @ phi[vector]) / (W @ W)
    return total


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
@pytest.mark.parametrize("task", TASKS)
def test_each_vector_is_the_best_of_its_turn(task: Task, kernel: Kernel, rule: Rule) -> None:
    machine = small_machine(task, kernel)
    order = pursue(machine, 6, rule).order.tolist()
    assert len(set(order)) == 6
    for t, vector in enumerate(order):
        rest = sorted(set(range(9)) - set(order[:t]))
        gains = [gain(machine, order[:t], other, rule) for other in rest]
        assert vector == rest[int(np.argmax(gains))]


@pytest.mark.parametrize("task", TASKS)
def test_weights_and_residuals_are_those_of_dense_least_squares(task: Task) -> None:
    machine = small_machine(task)
    selection = pursue(machine, 9)
    assert len(selection) == 9
    for n in range(10):
        spread, left = least_squares(machine, selection.order[:n].tolist())
        assert_allclose(selection.coefficients(n), spread, rtol=1e-8, atol=1e-9)
        assert_allclose(left_of(selection, n), left, atol=1e-12 * selection.squares.max())


@pytest.mark.parametrize("task", TASKS)
def test_all_vectors_are_the_machine_again(task: Task) -> None:
    machine = small_machine(task)
    X = np.random.default_rng(1).normal(size=(20, 4))
    again = evaluate(pursue(machine, 9).reduced(9), X)
    assert_allclose(again.decisions, evaluate(machine, X).decisions, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("task", TASKS)
def test_decisions_are_those_of_the_coefficients(task: Task) -> None:
    machine = small_machine(task)
    X = np.random.default_rng(1).normal(size=(20, 4))
    selection = pursue(machine, 5)
    values = machine.kernel.values(machine.support_vectors[selection.order], X)
    expected = values @ selection.coefficients(5).T + machine.intercept
    assert_allclose(evaluate(selection.reduced(5), X).decisions, expected, rtol=1e-10, atol=1e-12)


def test_separate_pools_use_the_vectors_of_their_decision_alone() -> None:
    machine = small_machine(Task.ONE_VS_REST)
    beta = machine.dual_coef.copy()
    beta[0, :5] = 0.0
    machine = replace(machine, dual_coef=beta)
    pools = separate_pools(machine)
    selection = pursue(machine, 6, pools=pools)
    spread, left = least_squares(machine, selection.order.tolist(), pools)
    assert_allclose(selection.coefficients(6), spread, rtol=1e-8, atol=1e-9)
    assert_allclose(left_of(selection, 6), left, atol=1e-12 * selection.squares.max())
    assert (selection.coefficients(6)[0, selection.order < 5] == 0).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_vectors_are_those_of_orthogonal_matching_pursuit(seed: int) -> None:
    machine = small_machine(Task.BINARY, n=60, n_features=6, seed=seed)
    gram = machine.kernel.values(machine.support_vectors, machine.support_vectors)
    products, selection = gram @ machine.dual_coef[0], pursue(machine, 20)
    for n in (1, 5, 20):
        expected = orthogonal_mp_gram(gram, products, n_nonzero_coefs=n)
        found = np.zeros(60)
        found[selection.order[:n]] = selection.coefficients(n)[0]
        assert_allclose(found, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("size", [2, 3])
@pytest.mark.parametrize("task", TASKS)
def test_no_choice_is_better_than_the_best_subset(task: Task, size: int) -> None:
    machine = small_machine(task, n=8)
    best = min(relative_left(machine, subset) for subset in combinations(range(8), size))
    for rule in RULES:
        selection = pursue(machine, size, rule)
        share = (left_of(selection, size) / selection.squares).sum()
        assert best <= share * (1 + 1e-9)
        assert share <= len(selection.squares)


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("task", TASKS)
def test_vectors_in_the_span_of_others_are_left_out(task: Task, rule: Rule) -> None:
    machine = small_machine(task, Poly(0.5, 1.0, 2), n=45, n_features=2)
    selection = pursue(machine, 45, rule)
    assert [len(basis.places) for basis in selection.bases] == [6] * len(selection.bases)
    places = np.concatenate([basis.places for basis in selection.bases])
    assert set(places) == set(range(len(selection)))
    assert (left_of(selection, 45) <= 1e-10 * selection.squares).all()


def test_a_decision_of_all_zeros_does_not_matter() -> None:
    machine = small_machine(Task.ONE_VS_REST)
    beta = machine.dual_coef.copy()
    beta[1] = 0.0
    selection = pursue(replace(machine, dual_coef=beta), 4)
    assert len(selection) == 4
    assert (selection.coefficients(4)[1] == 0).all()


def test_kernels_without_a_feature_space_and_unknown_rules_are_refused() -> None:
    with pytest.raises(InputError, match="not positive definite"):
        pursue(small_machine(Task.BINARY, Sigmoid(0.5, -1.0)), 3)
    with pytest.raises(UsageError, match="must be one of"):
        pursue(small_machine(Task.BINARY), 3, "best")  # type: ignore[arg-type]
