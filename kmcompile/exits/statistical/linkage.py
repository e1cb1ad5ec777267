"""Find clumps: groups of points far nearer to each other than to any other point.

Points are joined in order of their distance, nearest first (single linkage). A group ends when it
is joined with another group. The distance at which it ends, divided by the largest distance at
which its own members were joined, tells how clear a clump it is. This measure needs no scale and no
density: among points spread evenly in m dimensions, a pair is k times nearer to each other than to
the next point with a probability of about k^-m, whatever the density there.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import minimum_spanning_tree
from scipy.spatial import cKDTree

from kmcompile.numeric.arrays import Float64Array

_NEIGHBOURS = 8
"""Number of neighbours that each point is joined with at first; larger groups are joined by their
first members."""

_CLOSEST_SHARE = (math.inf, math.inf, 1 / 30, 1 / 12, 1 / 8)
"""By size of the clump, the largest ratio of the distance inside it to the distance from it; the
last entry is for all larger clumps, which form by chance less often. Chosen on every second data
set of the project, so that points on a line, where most clumps form by chance, lose less than 1 in
20."""

_LEAST_DISTANCE = 1e-300
"""Stands for a distance of 0, which a sparse matrix takes for a missing entry."""


class Linkage:
    """Groups of points while they are joined, stored as a forest; at first each point is a tree.

    Parameters
    ----------
    n : int
        Number of points.
    """

    def __init__(self, n: int) -> None:
        self._parent = list(range(n))
        self._tree = list(range(n))  # for the group whose first member has this index
        self._members = [1] * n
        self._height = [0.0] * n
        self._end = [0.0] * n  # unknown: no clump
        self._joined: list[tuple[int, int] | None] = [None] * n

    def first(self, point: int) -> int:
        """Return the smallest index in the group of a point."""
        while self._parent[point] != point:
            self._parent[point] = self._parent[self._parent[point]]
            point = self._parent[point]
        return point

    def firsts(self) -> NDArray[np.intp]:
        """Return the smallest index in each group."""
        return np.array([i for i, parent in enumerate(self._parent) if parent == i], dtype=np.intp)

    def size(self, first: int) -> int:
        """Return the number of points in the group with a given first member."""
        return self._members[self._tree[first]]

    def join(self, a: int, b: int, distance: float) -> None:
        """Join the groups of two points."""
        a, b = sorted((self.first(a), self.first(b)))
        if a == b:
            return
        trees = self._tree[a], self._tree[b]
        for tree in trees:
            self._end[tree] = distance
        self._members.append(sum(self._members[tree] for tree in trees))
        self._height.append(max(distance, *(self._height[tree] for tree in trees)))
        self._end.append(0.0)
        self._joined.append(trees)
        self._parent[b] = a
        self._tree[a] = len(self._members) - 1

    def end(self, first: int, distance: float) -> None:
        """Record the distance from the group of a first member to the next group outside it."""
        self._end[self._tree[first]] = distance

    def clumps(self, are_copies: Callable[[NDArray[np.intp]], bool]) -> list[NDArray[np.intp]]:
        """Return the largest clumps whose members are copies of each other, as sorted indices."""
        found = []
        left = [self._tree[first] for first in self.firsts()]
        while left:
            tree = left.pop()
            trees = self._joined[tree]
            if trees is None:
                continue
            if self._is_clump(tree):
                points = self._points(tree)
                if are_copies(points):
                    found.append(points)
                    continue
            left.extend(trees)
        return found

    def _is_clump(self, tree: int) -> bool:
        share = _CLOSEST_SHARE[min(self._members[tree], len(_CLOSEST_SHARE) - 1)]
        return self._height[tree] <= share * self._end[tree]

    def _points(self, tree: int) -> NDArray[np.intp]:
        found, left = [], [tree]
        while left:
            tree = left.pop()
            trees = self._joined[tree]
            if trees is None:
                found.append(tree)
            else:
                left.extend(trees)
        return np.sort(np.array(found, dtype=np.intp))


def linkage(points: Float64Array, reach: float) -> Linkage:
    """Return the groups of points, joined where they are within reach of each other.

    Each point is joined with its nearest points first. A group whose members then have no
    neighbours outside the group is represented by its first member. The distance of two first
    members stands for the distance of their groups.

    Parameters
    ----------
    points : ndarray of shape (n, n_dimensions), float64
        Points of few dimensions, because a k-d tree finds the neighbours.
    reach : float
    """
    groups = Linkage(len(points))
    for a, b, distance in _nearest_pairs(points, reach):
        groups.join(a, b, distance)
    joined = True
    while joined:  # each round joins at least half of the groups left
        firsts = groups.firsts()
        several = np.array([i for i in firsts if groups.size(i) > 1], dtype=np.intp)
        if len(several) == 0 or len(firsts) == 1:
            break
        distances, places = cKDTree(points[firsts]).query(points[several], k=2)
        others = firsts[places]
        itself = others[:, 0] == several
        other = np.where(itself, others[:, 1], others[:, 0])
        distance = np.where(itself, distances[:, 1], distances[:, 0])
        joined = _join_or_end(groups, several, other, distance, reach)
    return groups


def _join_or_end(
    groups: Linkage,
    several: NDArray[np.intp],
    other: NDArray[np.intp],
    distance: Float64Array,
    reach: float,
) -> bool:
    """Join groups with their nearest group within reach; return whether any was within reach."""
    joined = False
    for at in np.lexsort((several, distance)):
        first, next_one, far = int(several[at]), int(other[at]), float(distance[at])
        if far <= reach:
            groups.join(first, next_one, max(far, _LEAST_DISTANCE))
            joined = True
        elif groups.first(first) == first:
            groups.end(first, far)
    return joined


def _nearest_pairs(points: Float64Array, reach: float) -> list[tuple[int, int, float]]:
    """Return the pairs that join each point to its nearest points, nearest first."""
    n = len(points)
    neighbours = min(_NEIGHBOURS + 1, n)
    distance, place = cKDTree(points).query(points, k=neighbours, distance_upper_bound=reach)
    a = np.repeat(np.arange(n), neighbours)
    b, distance = place.ravel(), distance.ravel()
    near = (b < n) & (b != a)  # n if none is within reach
    a, b, distance = a[near], b[near], np.maximum(distance[near], _LEAST_DISTANCE)
    low, high = np.minimum(a, b), np.maximum(a, b)
    _, once = np.unique(low * n + high, return_index=True)
    graph = csr_array((distance[once], (low[once], high[once])), shape=(n, n))
    tree = minimum_spanning_tree(graph).tocoo()
    order = np.lexsort((tree.col, tree.row, tree.data))
    rows, columns = tree.row[order].tolist(), tree.col[order].tolist()
    return list(zip(rows, columns, tree.data[order].tolist(), strict=True))
