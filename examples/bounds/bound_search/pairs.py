"""Vectors of P^ and N^, one more pair at a time (2001, 4.2): nested approximations."""

from __future__ import annotations

from itertools import product

import numpy as np
from scipy.optimize import minimize

from bound_search.betas import distance_pair, width_pair
from bound_search.points import DistanceForm, Pair, Point
from bound_search.preimages import preimage, principal_axes
from bound_search.width_cost import WidthCost
from kmcompile.exits.certified.vectors.free import box, free_vectors, next_vector
from kmcompile.exits.certified.vectors.greedy import Pursuit, greedy_vectors
from kmcompile.exits.certified.vectors.span import LEAST_PIVOT
from kmcompile.kernels import Kernel
from kmcompile.model.decision_sums import DecisionSums, Part
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array

Vectors = tuple[Float64Array, Float64Array]
"""Z+ and Z-, each of shape (n, n_features), float64."""

_N_CANDIDATES = 4
_N_RANDOM = 3
_SMALL = 0.1
_ITERATIONS = 200


def toward(kernel: Kernel, point: Point) -> Normals:
    """Return one point of feature space in the place of a normal."""
    coefficients = point.weights[None]
    products = point.with_query(kernel, point.vectors)[:, None]
    squares = np.maximum(coefficients @ products, 0.0)[0]
    part = Part(slice(None), coefficients, np.arange(1))
    sums = DecisionSums(1, len(point.vectors), (part,))
    return Normals(kernel, point.vectors, coefficients, products, squares, sums)


def folded_vectors(form: DistanceForm) -> Vectors:
    """Return w+ and w-, the classes' weighted means in input space (3.2), as one pair."""
    sides = (form.positive, form.negative)
    first, second = (side.weights @ side.vectors / side.weights.sum() for side in sides)
    return first[None], second[None]


def _in_pairs(positive: Float64Array, negative: Float64Array) -> Vectors:
    """Return as many vectors of one class as of the other."""
    n = min(len(positive), len(negative))
    return positive[:n], negative[:n]


def nearest_to_boundary(form: DistanceForm, X: Float64Array, n: int) -> Float64Array:
    """Return the n samples of lowest |f|, for which the bounds-width cost is averaged."""
    order = np.argsort(np.abs(form.decisions(X)), kind="stable")
    return X[order[:n]]


def support_vectors_by_distance(form: DistanceForm, n: int) -> Vectors:
    """Return at most n support vectors of each class, by matching pursuit on P and on N."""
    return _in_pairs(
        *(greedy_vectors(toward(form.kernel, side), n) for side in (form.positive, form.negative))
    )


def preimages(form: DistanceForm, n: int) -> Vectors:
    """Return pre-images of the first n principal axes of each class in feature space."""
    sides = []
    for side in (form.positive, form.negative):
        limits = box(toward(form.kernel, side))
        axes = principal_axes(form.kernel, side.vectors, n)
        sides.append(np.array([preimage(form.kernel, side.vectors, a, limits) for a in axes]))
    return _in_pairs(*sides)


def free_by_distance(form: DistanceForm, n: int, seed: int) -> Vectors:
    """Return at most n free vectors of each class, each the best for the distance to P or N."""
    sides = (form.positive, form.negative)
    return _in_pairs(*(free_vectors(toward(form.kernel, side), n, seed) for side in sides))


def support_vectors_by_width(cost: WidthCost, n: int) -> Vectors:
    """Return at most n support vectors of each class by bounds-width.

    Of the four of each class that bring P^ and N^ nearest, the two that cost least together, the
    weights fitted by distance, come next.
    """
    form, kernel = cost.form, cost.form.kernel
    sides = [Pursuit(toward(kernel, side), n) for side in (form.positive, form.negative)]
    for _ in range(n):
        candidates = []
        for side in sides:
            gains = side.gains()
            best = gains.argsort()[::-1][:_N_CANDIDATES]
            candidates.append(side.span.normals.vectors[best[gains[best] > 0]])
        together = list(product(*candidates))
        if not together:
            break
        costs = [cost(distance_pair(form, *_with(sides, two)))[0] for two in together]
        for side, z in zip(sides, together[int(np.argmin(costs))], strict=True):
            side.add(z)
    return sides[0].span.vectors, sides[1].span.vectors


def _with(sides: list[Pursuit], new: Vectors) -> Vectors:
    """Return the vectors of both sides, each with one more."""
    first, second = (np.vstack([s.span.vectors, z]) for s, z in zip(sides, new, strict=True))
    return first, second


def free_by_width(cost: WidthCost, n: int, seed: int) -> list[Pair]:
    """Return pairs of 1, 2, ..., at most n free vectors a side, each with the vectors before it.

    L-BFGS moves the two new vectors and all weights; the vectors before stay. It starts at zeros,
    at small random values, at random support vectors of the class, at w+ and w-, and at what the
    distance cost would take next, with the weights of `width_pair`.
    """
    form = cost.form
    rng = np.random.default_rng(seed)
    sides = [Pursuit(toward(form.kernel, side), n) for side in (form.positive, form.negative)]
    pairs: list[Pair] = []
    for _ in range(n):
        before = (sides[0].span.vectors, sides[1].span.vectors)
        found = [_with_two_more(cost, before, new) for new in _seeds(form, sides, rng)]
        best = min(found, key=lambda pair: cost(pair)[0])
        new = (best.positive.vectors[-1], best.negative.vectors[-1])
        if any(side.span.pivot(z) <= LEAST_PIVOT for side, z in zip(sides, new, strict=True)):
            break
        for side, z in zip(sides, new, strict=True):
            side.add(z)
        pairs.append(best)
    return pairs


def _seeds(form: DistanceForm, sides: list[Pursuit], rng: np.random.Generator) -> list[Vectors]:
    """Return pairs of vectors to start at."""
    points = (form.positive, form.negative)
    nothing = np.zeros_like(form.positive.vectors[:1])
    seeds: list[Vectors] = [(nothing, nothing), folded_vectors(form)]
    spread = _SMALL * np.concatenate([point.vectors for point in points]).std()
    for _ in range(_N_RANDOM):
        small = spread * rng.normal(size=(2, *nothing.shape))
        seeds.append((small[0], small[1]))
        first, second = (point.vectors[[rng.integers(len(point))]] for point in points)
        seeds.append((first, second))
    nearest = [next_vector(side, rng) for side in sides]
    if nearest[0] is not None and nearest[1] is not None:
        seeds.append((nearest[0][None], nearest[1][None]))
    return seeds


def _with_two_more(cost: WidthCost, before: Vectors, new: Vectors) -> Pair:
    """Return the pair of the vectors before and two that L-BFGS moves, with all weights."""
    positive, negative = (np.vstack([old, z]) for old, z in zip(before, new, strict=True))
    start = width_pair(cost, positive, negative)
    sizes = (len(positive), len(negative), positive.shape[1])
    ends = np.cumsum(sizes)

    def pair_of(flat: Float64Array) -> Pair:
        first, second, z_first, z_second = np.split(flat, ends)
        return Pair(
            Point(np.vstack([before[0], z_first]), first),
            Point(np.vstack([before[1], z_second]), second),
        )

    def loss(flat: Float64Array) -> tuple[float, Float64Array]:
        value, slope = cost(pair_of(flat))
        p, n = slope.positive, slope.negative
        return value, np.concatenate([p.weights, n.weights, p.vectors[-1], n.vectors[-1]])

    flat = np.concatenate(
        [start.positive.weights, start.negative.weights, positive[-1], negative[-1]]
    )
    form = cost.form
    limits: list[tuple[float | None, float | None]] = [(None, None)] * int(ends[1])
    for side in (form.positive, form.negative):
        limits += box(toward(form.kernel, side))
    options = {"maxiter": _ITERATIONS}
    found = minimize(loss, flat, jac=True, method="L-BFGS-B", bounds=limits, options=options)
    return pair_of(found.x)
