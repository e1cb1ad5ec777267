"""Sequences of nested approximations, their intervals intersected (2001, section 5)."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from bound_search.betas import distance_pair
from bound_search.extrema import Interval
from bound_search.pairs import Vectors, folded_vectors
from bound_search.points import DistanceForm, Pair, Point
from kmcompile.numeric.arrays import Float64Array

Form = Callable[[DistanceForm, Pair, Float64Array], Interval]
"""`extrema_bounds`, `line_bounds` or `plane_bounds`."""


def nested_pairs(form: DistanceForm, vectors: Vectors) -> list[Pair]:
    """Return pairs of the first 1, 2, ..., n vectors of each class, weights by distance."""
    positive, negative = vectors
    return [distance_pair(form, positive[:k], negative[:k]) for k in range(1, len(positive) + 1)]


def sequence_bounds(
    bounds: Form, form: DistanceForm, pairs: Sequence[Pair], X: Float64Array
) -> Interval:
    """Return the intersections of the first 1, 2, ..., n intervals, (n_queries, n) each.

    Every one of them holds f, so what they have in common does.
    """
    each = [bounds(form, pair, X) for pair in pairs]
    lower, upper = (np.column_stack(ends) for ends in zip(*each, strict=True))
    return np.maximum.accumulate(lower, axis=1), np.minimum.accumulate(upper, axis=1)


def first_decided(lower: Float64Array, upper: Float64Array) -> NDArray[np.intp]:
    """Return after how many approximations the sign is clear, n + 1 where it is after none.

    Parameters
    ----------
    lower, upper : ndarray of shape (n_queries, n), float64
        Intersected.
    """
    clear = (lower > 0) | (upper < 0)
    steps: NDArray[np.intp] = np.where(
        clear.any(axis=1), clear.argmax(axis=1) + 1, len(clear.T) + 1
    )
    return steps


def guess(lower: Float64Array, upper: Float64Array) -> NDArray[np.bool_]:
    """Return the anytime answer of an interval: whether more of it is above 0 than below."""
    return lower + upper > 0


def weight_folded(form: DistanceForm) -> Pair:
    """Return P^ = phi(w+), N^ = phi(w-) (3.2): a dot product a class, safe for any kernel.

    Nearly exact where phi is nearly linear, such as poly of degree 1.
    """
    positive, negative = folded_vectors(form)
    return Pair(Point(positive, np.ones(1)), Point(negative, np.ones(1)))
