"""The vectors of the bounds: nested, of decreasing residual, inside ranges."""

from __future__ import annotations

import numpy as np
import pytest
from bound_search.derivatives import gradient, self_gradient
from bound_search.free import box, gain
from bound_search.refine import NestedCost, refine
from bound_search.vectors import METHODS, choose_vectors
from numpy.testing import assert_allclose
from span_cases import DATA, KERNELS, case, central_difference, random_machine

from kmcompile.exits.certified.vectors.greedy import greedy_vectors
from kmcompile.exits.certified.vectors.normals import Normals
from kmcompile.exits.certified.vectors.span import LEAST_PIVOT, Span
from kmcompile.kernels import Kernel, Linear, Rbf
from kmcompile.model.kernel_machine import KernelMachine

NO_SAMPLES = np.zeros((0, 64), np.float32)


def residuals(span: Span) -> np.ndarray:
    """Return |W_p - proj W_p|^2 / |W_p|^2 after each vector, shape (k, n_decisions)."""
    return 1 - np.cumsum(span.weights**2, axis=0) / span.normals.squares


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_self_values_are_the_kernel_of_a_vector_with_itself(kernel: Kernel) -> None:
    X = np.random.default_rng(0).normal(size=(5, 3))
    exact = [kernel.values(x[None], x[None])[0, 0] for x in X]
    # Sums of 3 products in another order, raised to the 3rd power at most.
    assert_allclose(kernel.self_values(X), exact, rtol=3 * 8 * 2.0**-53)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_kernel_gradient_matches_differences(kernel: Kernel) -> None:
    rng = np.random.default_rng(1)
    Z, X, C = rng.normal(size=(2, 3)), rng.normal(size=(4, 3)), rng.normal(size=(2, 4))
    difference = central_difference(lambda Z: float((C * kernel.values(X, Z)).sum()), Z)
    found = gradient(kernel, Z, X, C)
    assert_allclose(found, difference, atol=1e-6 * np.abs(found).max())
    difference = central_difference(lambda Z: float(kernel.self_values(Z).sum()), Z)
    found = self_gradient(kernel, Z)
    assert_allclose(found, difference, atol=1e-6 * max(1.0, np.abs(found).max()))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_gain_of_a_free_vector_matches_differences(kernel: Kernel) -> None:
    normals = Normals.of(random_machine(kernel))
    rng = np.random.default_rng(2)
    relative, z = 1 / normals.squares, rng.normal(size=3)
    for span in (Span.empty(normals), Span.of(normals, rng.normal(size=(2, 3)))):
        value, slope = gain(span, relative, z)
        difference = central_difference(lambda z, s=span: gain(s, relative, z)[0], z)
        assert_allclose(slope, difference, atol=1e-5 * max(value, np.abs(slope).max()))


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=str)
def test_gain_is_what_the_residual_loses(kernel: Kernel) -> None:
    normals = Normals.of(random_machine(kernel))
    rng = np.random.default_rng(3)
    span, z = Span.of(normals, rng.normal(size=(3, 3))), rng.normal(size=3)
    before, after = residuals(span)[-1], residuals(span.extended(z))[-1]
    # Differences of shares of 1, through triangles of at most 4 / LEAST_PIVOT.
    value, _ = gain(span, 1 / normals.squares, z)
    assert_allclose(before.sum() - after.sum(), value, atol=2.0**-53 * 1e3 / LEAST_PIVOT)


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


@pytest.mark.parametrize("name", DATA)
@pytest.mark.parametrize("method", METHODS)
def test_chosen_vectors_narrow_the_residual_step_by_step(name: str, method: str) -> None:
    of = case(name)
    Z = choose_vectors(of.machine, 12, method, of.raw[:100], seed=0)
    assert len(Z) == 12
    normals = Normals.of(of.machine)
    span = Span.of(normals, Z)
    assert len(span) == len(Z)  # none of them nearly in the span of the others
    left = residuals(span)
    assert (np.diff(left, axis=0) <= 0).all()
    assert (left[-1] < 1).all()


@pytest.mark.parametrize("name", DATA)
def test_greedy_vectors_are_support_vectors_and_nested(name: str) -> None:
    of = case(name)
    Z = choose_vectors(of.machine, 10, "greedy", NO_SAMPLES, seed=0)
    rows = {row.tobytes() for row in of.machine.support_vectors}
    assert all(z.tobytes() in rows for z in Z)
    fewer = choose_vectors(of.machine, 4, "greedy", NO_SAMPLES, seed=0)
    assert np.array_equal(fewer, Z[:4])


def test_greedy_takes_the_best_vector_each_time() -> None:
    of = case("digits_0_1_2")
    normals = Normals.of(of.machine)
    chosen = greedy_vectors(normals, 3)
    span = Span.empty(normals)
    for z in chosen:
        left = [
            residuals(span.extended(s))[-1].sum()
            for s in normals.vectors
            if span.pivot(s) > LEAST_PIVOT
        ]
        span = span.extended(z)
        # Both sides are sums of at most 3 squares of shares of 1.
        assert residuals(span)[-1].sum() <= min(left) + 2.0**-53 * 1e3 / LEAST_PIVOT


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


def test_free_vectors_need_fewer_kernels_than_support_vectors() -> None:
    of = case("breast_cancer")
    normals = Normals.of(of.machine)
    cost = NestedCost(normals, of.X, of.f, of.machine.intercept)
    greedy, free = (
        choose_vectors(of.machine, 12, method, of.raw[:80], seed=0) for method in ("greedy", "free")
    )
    assert cost(free)[0] < cost(greedy)[0]


def test_choice_is_the_same_every_time() -> None:
    of = case("moons")
    for method in METHODS:
        first, again = (choose_vectors(of.machine, 6, method, of.raw, seed=3) for _ in range(2))
        assert np.array_equal(first, again)


def test_vectors_end_where_the_span_is_full() -> None:
    machine = random_machine(KERNELS[3])  # linear in three features
    for method in METHODS:
        Z = choose_vectors(machine, 10, method, np.zeros((0, 3), np.float32), seed=0)
        assert len(Z) <= 3


def test_greedy_of_five_thousand_vectors_narrows_the_residual() -> None:
    rng = np.random.default_rng(6)
    small = random_machine(Rbf(1 / 64))
    machine = KernelMachine(
        kind="SVC",
        task=small.task,
        kernel=small.kernel,
        support_vectors=rng.normal(size=(5000, 64)),
        dual_coef=rng.normal(size=(1, 5000)),
        intercept=small.intercept,
        classes=small.classes,
        n_features=64,
    )
    Z = choose_vectors(machine, 64, "greedy", NO_SAMPLES, seed=0)
    assert Z.shape == (64, 64)
    assert (np.diff(residuals(Span.of(Normals.of(machine), Z)), axis=0) <= 0).all()
