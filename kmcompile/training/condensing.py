"""The training points that a nearest-point route needs: a condensed nearest-neighbour set."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from kmcompile.numeric.arrays import Float64Array
from kmcompile.training.nearest_so_far import NearestSoFar
from kmcompile.training.neighbours import IndexArray
from kmcompile.training.routes import nearest_choices

_TREE_FEATURES = 8
"""With more features a kd-tree looks at nearly all points."""


def condense(X: Float64Array, leaves: IndexArray, start: IndexArray) -> IndexArray:
    """Return points among which the nearest one of every point of X has its leaf.

    Begins with `start`. In each round every point of the set whose cell has points of other leaves
    brings the nearest of these into the set, until there are none (Angiulli's FCNN rule). Of equal
    rows of X the first one's leaf counts, as in a search through all of X.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float64
    leaves, start : ndarray of shape (n,) and (n_start,), int64

    Returns
    -------
    ndarray of shape (n_chosen,), int64
        Ascending.
    """
    _, first = np.unique(X, axis=0, return_index=True)
    rows = np.sort(first)
    points, wanted = X[rows], leaves[rows]
    # An equal row before it stands for a start that is not the first of its kind.
    chosen = np.isin(rows, start)
    chosen[0] |= not chosen.any()
    found: _NearestByTrees | NearestSoFar
    found = _NearestByTrees(points) if X.shape[1] <= _TREE_FEATURES else NearestSoFar(points)
    _grow(found, wanted, chosen)
    while len(wrong := _wrong(points, wanted, chosen, found.close(chosen))):
        chosen[wrong] = True
        found.add(wrong)
    return rows[chosen]


def _grow(found: _NearestByTrees | NearestSoFar, leaves: IndexArray, chosen: np.ndarray) -> None:
    new = np.flatnonzero(chosen)
    while len(new):
        found.add(new)
        wrong = np.flatnonzero(leaves[found.nearest] != leaves)
        wrong = wrong[np.lexsort((wrong, found.squared[wrong], found.nearest[wrong]))]
        new = np.sort(wrong[np.unique(found.nearest[wrong], return_index=True)[1]])
        new = new[~chosen[new]]
        chosen[new] = True


class _NearestByTrees:
    """The nearest point so far of each row of X, as `NearestSoFar` has it, with few features."""

    def __init__(self, X: Float64Array) -> None:
        self.squared = np.full(len(X), np.inf)
        self.nearest = np.zeros(len(X), dtype=np.int64)
        self._X = X

    def add(self, new: IndexArray) -> None:
        found = new[np.asarray(cKDTree(self._X[new]).query(self._X)[1], dtype=np.int64)]
        distance = ((self._X - self._X[found]) ** 2).sum(axis=1)
        closer = (distance < self.squared) | ((distance == self.squared) & (found < self.nearest))
        self.squared[closer], self.nearest[closer] = distance[closer], found[closer]

    def close(self, chosen: np.ndarray) -> IndexArray:
        others = np.flatnonzero(~chosen)
        if chosen.sum() < 2:
            return others
        distance = cKDTree(self._X[chosen]).query(self._X[others], k=2)[0] ** 2
        rounding = 1e-13 * float((self._X**2).sum(axis=1).max())
        return np.asarray(others[distance[:, 1] - distance[:, 0] <= rounding])


def _wrong(
    X: Float64Array, leaves: IndexArray, chosen: np.ndarray, doubtful: IndexArray
) -> IndexArray:
    """Return those of the points that a route through the set, with its rounding, leads astray."""
    found = leaves[chosen][nearest_choices(X[doubtful], X[chosen])]
    return np.asarray(doubtful[found != leaves[doubtful]], dtype=np.int64)
