"""Vectors refined together: the cost with its gradient, and what refining saves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kit.span_cases import DATA, KERNELS, case, central_difference, random_machine
from kmcompile.exits.certified.vectors.free import box
from kmcompile.exits.certified.vectors.greedy import greedy_vectors
from kmcompile.exits.certified.vectors.refine import NestedCost, refine
from kmcompile.kernels import Kernel, Linear
from kmcompile.model.normals import Normals


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=str)
def test_nested_cost_matches_differences(kernel: Kernel) -> None:
    machine = random_machine(kernel)
    normals = Normals.of(machine)
    X, Z = np.random.default_rng(4).normal(size=(9, 3)), normals.vectors[:4] + 0.1
    cost = NestedCost(normals, X, normals.product(X) + machine.intercept, machine.intercept)
    _, slope = cost(Z)
    difference = central_difference(lambda Z: cost(Z)[0], Z)
    assert_allclose(slope, difference, atol=1e-5 * np.abs(slope).max())


def test_nested_cost_counts_kernels_until_the_sign_is_proved() -> None:
    # With the linear kernel and unit vectors every part of the formula can be written down.
    machine = random_machine(Linear())
    normals = Normals.of(machine)
    X = np.random.default_rng(16).normal(size=(40, 3))
    f = normals.product(X) + machine.intercept
    value, _ = NestedCost(normals, X, f, machine.intercept)(np.eye(3)[[0, 2]])
    W = normals.coefficients[0] @ normals.vectors
    enlarged = 1 + 1e-6  # the nugget
    expected = 0.0
    for share, known in ((1, [0]), (normals.coefficients.size, [0, 2])):
        centre = X[:, known] @ W[known] / enlarged + machine.intercept
        left = (X**2).sum(axis=1) - (X[:, known] ** 2).sum(axis=1) / enlarged
        rest = W @ W - W[known] @ W[known] / enlarged
        reach = 1.7 * np.sqrt(left * rest) - np.sign(f[:, 0]) * centre
        v = np.maximum(reach, 0) / np.abs(f[:, 0])
        expected += share * float((v / (1 + v)).mean())
    # Some hundred roundings; differences that cancel leave at least 1e-3 of what they are from.
    assert_allclose(value, expected, rtol=1e3 * 1e3 * 2.0**-53)


def test_nested_cost_of_several_decisions_matches_differences() -> None:
    digits = case("digits_0_1_2")
    normals = Normals.of(digits.machine)
    X = digits.X[:6]
    f = normals.product(X) + digits.machine.intercept
    cost = NestedCost(normals, X, f, digits.machine.intercept)
    Z = greedy_vectors(normals, 3)
    _, slope = cost(Z)
    difference = central_difference(lambda Z: cost(Z)[0], Z)
    assert_allclose(slope, difference, atol=1e-5 * np.abs(slope).max())


@pytest.mark.few
@pytest.mark.parametrize("name", DATA)
def test_refined_vectors_cost_no_more_than_where_they_start(name: str) -> None:
    of = case(name)
    normals = Normals.of(of.machine)
    start = greedy_vectors(normals, 8)
    cost = NestedCost(normals, of.X[:100], of.f[:100], of.machine.intercept)
    refined = refine(cost, start)
    assert cost(refined)[0] <= cost(start)[0]
    least, most = np.array(box(normals)).T
    assert (refined >= least).all() and (refined <= most).all()


def test_nested_cost_of_the_decisions_that_count_matches_differences() -> None:
    digits = case("digits_0_1_2")
    normals = Normals.of(digits.machine)
    X = digits.X[:6]
    f = normals.product(X) + digits.machine.intercept
    relevant = np.array([[1, 1, 0], [1, 0, 1], [0, 1, 1]] * 2, dtype=bool)
    cost = NestedCost(normals, X, f, digits.machine.intercept, relevant)
    Z = greedy_vectors(normals, 3)
    value, slope = cost(Z)
    difference = central_difference(lambda Z: cost(Z)[0], Z)
    assert_allclose(slope, difference, atol=1e-5 * np.abs(slope).max())
    alone = [
        NestedCost(normals, X[[i]], f[[i]], digits.machine.intercept, relevant[[i]])(Z)[0]
        for i in range(len(X))
    ]
    assert_allclose(value, np.mean(alone), rtol=1e-12)
