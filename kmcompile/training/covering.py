"""Centres whose neighbourhoods cover the training set (Segata & Blanzieri 2009, section 4.2.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kmcompile.numeric.arrays import Float64Array
from kmcompile.training.neighbours import IndexArray, LocalKernel, Neighbours

BASE = 1.3
"""The quotient of the separations of two successive levels; b of eq. 10."""


@dataclass(frozen=True, slots=True, eq=False)
class Covering:
    """Centres, their neighbourhoods, and each training point's centre.

    Parameters
    ----------
    neighbourhoods : ndarray of shape (n_centres, k), int64
        The k nearest training points of each centre, nearest first: the first is the centre.
    centre_of : ndarray of shape (n,), int64
        cnt of eq. 14: of the centres that have the point among their k' neighbours the one for
        which it has the smallest rank; of several such centres the first.
    k_prime : int
    """

    neighbourhoods: IndexArray
    centre_of: IndexArray
    k_prime: int

    @property
    def centres(self) -> IndexArray:
        """Training points, shape (n_centres,), in the order in which they were chosen."""
        return self.neighbourhoods[:, 0]


def cover(
    X: Float64Array, k: int, k_prime: int, kernel: LocalKernel, random: np.random.RandomState
) -> Covering:
    """Choose centres such that each training point is among the k' neighbours of one (Def. 1).

    Level i of a cover tree holds points that are farther than b^i from each other. The next centre
    is the first point, in a random order, of the highest level that has points not yet covered
    (eqs. 10 to 12). The levels are built of centres and of points not yet covered: a covered point
    never becomes a centre, and so keeps no other point out of a level.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float64
    k, k_prime : int
        1 <= k_prime <= k <= n.
    kernel : LocalKernel
        Neighbours are those in its feature space.
    random : RandomState

    Returns
    -------
    Covering
    """
    order = random.permutation(len(X))
    neighbours = Neighbours(X[order], kernel)
    rank = np.full(len(X), k_prime)
    centre_of = np.full(len(X), -1)
    levels = _Levels(len(X))
    chosen: list[IndexArray] = []
    while (centre := levels.first()) >= 0:
        nearest, squared = neighbours.around(centre, k)
        inner = nearest[:k_prime]
        better = np.arange(k_prime) < rank[inner]
        centre_of[inner[better]] = len(chosen)
        rank[inner[better]] = np.flatnonzero(better)
        levels.cover(inner, squared)
        chosen.append(order[nearest].astype(np.int32 if len(X) < 1 << 31 else np.int64))
    restored = np.empty_like(centre_of)
    restored[order] = centre_of
    return Covering(np.array(chosen, dtype=np.int64), restored, k_prime)


class _Levels:
    """The points not yet covered, and how far each is from the nearest centre."""

    def __init__(self, n: int) -> None:
        self._gap = np.full(n, np.inf)
        self._threshold = np.inf
        self._start = 0

    def first(self) -> int:
        """Return the first point not yet covered of the highest level, or -1."""
        point = self._next()
        if point >= 0:
            return point
        largest = float(self._gap.max())
        if largest < 0:
            return -1
        self._threshold = _separation(largest)
        self._start = 0
        return self._next()

    def cover(self, points: IndexArray, squared: Float64Array) -> None:
        """Take points out, and note the squared distances of all from the new centre."""
        np.minimum(self._gap, squared, out=self._gap, where=self._gap >= 0)
        self._gap[points] = -1.0

    def _next(self) -> int:
        # Distances only become smaller: what is behind the last centre stays out of this level.
        above = self._gap[self._start :] > self._threshold
        found = int(above.argmax())
        if not above[found]:
            return -1
        self._start += found
        return self._start


def _separation(squared: float) -> float:
    """Return the largest b^(2 i) below a squared distance, or a number below 0 for none."""
    if squared == np.inf:
        return float(np.finfo(np.float64).max)
    if squared < np.finfo(np.float64).tiny:
        return -0.5
    level = math.ceil(math.log(squared) / (2 * math.log(BASE))) - 1
    threshold = BASE ** (2 * level)
    return threshold if threshold < squared else threshold / BASE**2
