"""P^ and N^: weights by distance and by bounds-width, vectors of every kind, sequences of them."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from bound_search.betas import distance_betas, distance_pair, width_pair
from bound_search.forms import line_bounds, plane_bounds
from bound_search.pairs import (
    Vectors,
    folded_vectors,
    free_by_distance,
    free_by_width,
    nearest_to_boundary,
    preimages,
    support_vectors_by_distance,
    support_vectors_by_width,
    toward,
)
from bound_search.points import DistanceForm, Pair, Point, squared_distance
from bound_search.preimages import fixed_point, preimage, principal_axes
from bound_search.sequence import (
    first_decided,
    guess,
    nested_pairs,
    sequence_bounds,
    weight_folded,
)
from bound_search.width_cost import WidthCost
from numpy.testing import assert_allclose

from kit.span_cases import KERNELS, case, central_difference, random_machine
from kmcompile.kernels import Kernel, Linear, Poly, Rbf

N_PAIRS = 4


def pair_of(parts: np.ndarray) -> Pair:
    """Return the pair of a (2, n, 1 + n_features) array: weights first."""
    return Pair(*(Point(part[:, 1:], part[:, 0]) for part in parts))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_width_cost_has_the_gradient_of_its_differences(kernel: Kernel) -> None:
    form = DistanceForm.of(random_machine(kernel))
    rng = np.random.default_rng(1)
    cost = WidthCost.of(form, rng.normal(size=(9, 3)))
    at = rng.normal(size=(2, 3, 4))
    value, slope = cost(pair_of(at))
    assert value > 0
    found = np.array(
        [np.column_stack([p.weights, p.vectors]) for p in (slope.positive, slope.negative)]
    )
    difference = central_difference(lambda each: cost(pair_of(each))[0], at)
    assert_allclose(found, difference, atol=1e-5 * np.abs(found).max())


def test_width_cost_is_the_reach_to_the_wrong_side() -> None:
    of = case("moons")
    form = DistanceForm.of(of.machine)
    pair = distance_pair(form, form.positive.vectors[:5], form.negative.vectors[:5])
    low, high = line_bounds(form, pair, of.X)
    reach = np.where(of.f[:, 0] > 0, np.maximum(-low, 0), np.maximum(high, 0))
    value, _ = WidthCost.of(form, of.X)(pair)
    # Both are the same formula, some 1e4 roundings of sums of the same magnitude.
    assert_allclose(value, reach.mean(), rtol=0, atol=1e5 * 2.0**-53 * of.magnitude)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_distance_betas_are_nearest(kernel: Kernel) -> None:
    form = DistanceForm.of(random_machine(kernel))
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(2, 3))
    beta = distance_betas(kernel, Z, form.positive)
    best = squared_distance(kernel, form.positive, Point(Z, beta))
    for _ in range(20):
        moved = Point(Z, beta + 0.1 * rng.normal(size=2))
        assert squared_distance(kernel, form.positive, moved) > best


def test_distance_betas_of_dependent_vectors_are_finite() -> None:
    form = DistanceForm.of(random_machine(Rbf(0.3)))
    z = form.positive.vectors[:1]
    once, twice = (distance_betas(form.kernel, np.repeat(z, n, 0), form.positive) for n in (1, 2))
    assert_allclose(twice, once[0] / 2, rtol=1e-12)


@pytest.mark.parametrize("name", ["moons", "breast_cancer", "digits_3_8"])
def test_width_betas_cost_no_more_than_distance_betas(name: str) -> None:
    of = case(name)
    form = DistanceForm.of(of.machine)
    cost = WidthCost.of(form, nearest_to_boundary(form, of.X, 60))
    vectors = support_vectors_by_distance(form, N_PAIRS)
    assert cost(width_pair(cost, *vectors))[0] <= cost(distance_pair(form, *vectors))[0]


def by_name(name: str, method: str) -> tuple[DistanceForm, Vectors]:
    """Return vectors of a method for a machine of `case`."""
    of = case(name)
    form = DistanceForm.of(of.machine)
    cost = WidthCost.of(form, nearest_to_boundary(form, of.X, 40))
    choices = {
        "support vectors, distance": lambda: support_vectors_by_distance(form, N_PAIRS),
        "support vectors, width": lambda: support_vectors_by_width(cost, N_PAIRS),
        "preimages": lambda: preimages(form, N_PAIRS),
        "free, distance": lambda: free_by_distance(form, N_PAIRS, seed=0),
    }
    return form, choices[method]()


METHODS = ("support vectors, distance", "support vectors, width", "preimages", "free, distance")
NAMES = ("moons", "breast_cancer", "digits_3_8")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("method", METHODS)
def test_more_vectors_bring_both_points_nearer(name: str, method: str) -> None:
    form, vectors = by_name(name, method)
    pairs = nested_pairs(form, vectors)
    assert len(pairs) == N_PAIRS
    for side in ("positive", "negative"):
        exact = getattr(form, side)
        left = [squared_distance(form.kernel, exact, getattr(pair, side)) for pair in pairs]
        assert (np.diff(left) < 0).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_first_support_vectors_by_width_cost_no_more_than_by_distance(name: str) -> None:
    cost, _ = wide_pairs(name)
    form, by_width = by_name(name, "support vectors, width")
    _, by_distance = by_name(name, "support vectors, distance")
    first, second = (
        cost(distance_pair(form, positive[:1], negative[:1]))[0]
        for positive, negative in (by_width, by_distance)
    )
    assert first <= second


@pytest.mark.parametrize("name", NAMES)
def test_free_vectors_come_nearer_than_support_vectors(name: str) -> None:
    form, free = by_name(name, "free, distance")
    _, chosen = by_name(name, "support vectors, distance")
    for side, of_free, of_chosen in zip((form.positive, form.negative), free, chosen, strict=True):
        first, second = (
            Point(z[:1], distance_betas(form.kernel, z[:1], side)) for z in (of_free, of_chosen)
        )
        found = squared_distance(form.kernel, side, first)
        assert found <= squared_distance(form.kernel, side, second)


@cache
def wide_pairs(name: str) -> tuple[WidthCost, list[Pair]]:
    of = case(name)
    form = DistanceForm.of(of.machine)
    cost = WidthCost.of(form, nearest_to_boundary(form, of.X, 40))
    return cost, free_by_width(cost, 3, seed=0)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_free_pairs_by_width_are_nested_and_cost_ever_less(name: str) -> None:
    cost, pairs = wide_pairs(name)
    for before, after in pairwise(pairs):
        for side in ("positive", "negative"):
            n = len(getattr(before, side))
            assert len(getattr(after, side)) == n + 1
            earlier = getattr(before, side).vectors
            assert np.array_equal(getattr(after, side).vectors[:n], earlier)
    costs = [cost(pair)[0] for pair in pairs]
    assert (np.diff(costs) < 0).all()


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", NAMES)
def test_first_free_pair_by_width_costs_least_of_all_first_pairs(name: str) -> None:
    cost, pairs = wide_pairs(name)
    for method in METHODS:
        form, (positive, negative) = by_name(name, method)
        other = distance_pair(form, positive[:1], negative[:1])
        assert cost(pairs[0])[0] <= cost(other)[0]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("bounds", [line_bounds, plane_bounds])
def test_intersected_intervals_shrink_and_hold_the_sign(name: str, bounds: object) -> None:
    of = case(name)
    form = DistanceForm.of(of.machine)
    pairs = nested_pairs(form, support_vectors_by_distance(form, 20))
    low, high = sequence_bounds(bounds, form, pairs, of.X)
    assert (np.diff(low, axis=1) >= 0).all() and (np.diff(high, axis=1) <= 0).all()
    decided = first_decided(low, high) <= len(pairs)
    # Every |f| here is far beyond the rounding of the intervals.
    f = of.f[:, 0]
    assert np.array_equal(guess(low[:, -1], high[:, -1])[decided], f[decided] > 0)
    assert decided.any()


@pytest.mark.exhaustive
def test_intersection_is_narrower_than_any_of_its_intervals() -> None:
    of = case("breast_cancer")
    form = DistanceForm.of(of.machine)
    _, pairs = wide_pairs("breast_cancer")
    low, high = sequence_bounds(line_bounds, form, pairs, of.X)
    each = [line_bounds(form, pair, of.X) for pair in pairs]
    assert (low[:, -1] == np.max([least for least, _ in each], axis=0)).all()
    assert (high[:, -1] == np.min([most for _, most in each], axis=0)).all()
    assert first_decided(low, high).min() >= 1


def test_first_decided_counts_from_one_and_past_the_end() -> None:
    low = np.array([[-1.0, 0.5], [0.1, 0.2], [-3.0, -2.0]])
    high = np.array([[1.0, 0.9], [1.0, 0.9], [1.0, 0.0]])
    assert list(first_decided(low, high)) == [2, 1, 3]


@pytest.mark.parametrize("kernel", [Poly(1.0, 0.01, 1), Linear()], ids=str)
def test_weight_folding_decides_nearly_linear_machines(kernel: Kernel) -> None:
    form = DistanceForm.of(random_machine(kernel))
    X = 3 * np.random.default_rng(3).normal(size=(500, 3))
    low, high = line_bounds(form, weight_folded(form), X)
    f = form.decisions(X)
    decided = (low > 0) | (high < 0)
    assert decided.mean() > 0.95
    assert np.array_equal(low[decided] > 0, f[decided] > 0)


def test_weight_folding_is_safe_and_weak_where_the_kernel_is_not_linear() -> None:
    of = case("moons")
    form = DistanceForm.of(of.machine)
    low, high = line_bounds(form, weight_folded(form), of.X)
    assert ((low <= of.f[:, 0]) & (of.f[:, 0] <= high)).all()
    assert ((low > 0) | (high < 0)).mean() < 0.5


def test_folded_vectors_are_the_weighted_means_of_the_classes() -> None:
    form = DistanceForm.of(random_machine(Linear()))
    positive, negative = folded_vectors(form)
    assert_allclose(positive[0], form.positive.weights @ form.positive.vectors, rtol=1e-14)
    assert_allclose(negative[0], form.negative.weights @ form.negative.vectors, rtol=1e-14)


@pytest.mark.parametrize("kernel", KERNELS[:3], ids=str)
def test_principal_axes_are_orthonormal_in_feature_space(kernel: Kernel) -> None:
    vectors = np.random.default_rng(4).normal(size=(15, 3))
    axes = principal_axes(kernel, vectors, 4)
    gram = axes @ kernel.values(vectors, vectors) @ axes.T
    assert_allclose(gram, np.eye(len(axes)), atol=15 * 2.0**-53 / 1e-8)


def test_preimage_of_a_point_is_the_point() -> None:
    vectors = np.random.default_rng(5).normal(size=(8, 3))
    limits = [(-4.0, 4.0)] * 3
    for kernel in (Rbf(0.3), Poly(0.4, 1.0, 3)):
        one = np.eye(8)[2]
        # L-BFGS stops where its slope is 1e-5.
        assert_allclose(preimage(kernel, vectors, one, limits), vectors[2], atol=1e-4)


@pytest.mark.parametrize("kernel", KERNELS[:2], ids=str)
def test_preimage_of_an_axis_is_nearer_to_it_than_any_vector(kernel: Kernel) -> None:
    vectors = np.random.default_rng(7).normal(size=(15, 3))
    limits = [(-4.0, 4.0)] * 3
    for axis in principal_axes(kernel, vectors, 3):

        def share(Z: np.ndarray, axis: np.ndarray = axis) -> np.ndarray:
            return (kernel.values(vectors, Z) @ axis) ** 2 / kernel.self_values(Z)

        z = preimage(kernel, vectors, axis, limits)
        found = share(z[None])[0]
        assert found > share(vectors).max()
        nearby = z + 0.05 * np.random.default_rng(8).normal(size=(50, 3))
        # No farther than its slope at the end, 1e-5, leads.
        assert share(nearby).max() <= found + 1e-5


def test_fixed_point_of_a_gaussian_mean_is_its_maximum() -> None:
    kernel = Rbf(0.3)
    vectors = np.random.default_rng(6).normal(size=(8, 3))
    weights = np.full(8, 1 / 8)
    z = fixed_point(kernel, vectors, weights, vectors[0])
    product = (kernel.values(vectors, z[None]) @ weights)[0]
    for moved in np.vstack([np.eye(3), -np.eye(3)]) * 0.01:
        assert (kernel.values(vectors, (z + moved)[None]) @ weights)[0] < product


def test_fixed_point_that_leaves_is_given_up() -> None:
    kernel = Rbf(0.3)
    vectors = np.array([[0.0], [1.0]])
    start = np.array([0.5])
    assert fixed_point(kernel, vectors, np.array([1.0, -1.0]), start) is start


def test_toward_a_point_measures_the_distance_to_it() -> None:
    form = DistanceForm.of(random_machine(Rbf(0.3)))
    normals = toward(form.kernel, form.positive)
    zero = Point(np.zeros((1, 3)), np.zeros(1))
    square = squared_distance(form.kernel, form.positive, zero)
    assert_allclose(normals.squares[0], square, rtol=1e-13)
