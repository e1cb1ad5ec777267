"""The training points that a nearest-point route needs: a condensed nearest-neighbour set."""

from __future__ import annotations

import numpy as np
from scipy.spatial import cKDTree

from kmcompile.numeric.arrays import Float64Array
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
    _grow(points, wanted, chosen)
    while len(wrong := _wrong(points, wanted, chosen)):
        chosen[wrong] = True
    return rows[chosen]


def _grow(X: Float64Array, leaves: IndexArray, chosen: np.ndarray) -> None:
    squared, nearest = np.full(len(X), np.inf), np.zeros(len(X), dtype=np.int64)
    new = np.flatnonzero(chosen)
    while len(new):
        found = new[_nearest(X, X[new])]
        distance = ((X - X[found]) ** 2).sum(axis=1)
        closer = (distance < squared) | ((distance == squared) & (found < nearest))
        squared[closer], nearest[closer] = distance[closer], found[closer]
        wrong = np.flatnonzero(leaves[nearest] != leaves)
        wrong = wrong[np.lexsort((wrong, squared[wrong], nearest[wrong]))]
        new = np.sort(wrong[np.unique(nearest[wrong], return_index=True)[1]])
        new = new[~chosen[new]]
        chosen[new] = True


def _nearest(X: Float64Array, points: Float64Array) -> IndexArray:
    if X.shape[1] <= _TREE_FEATURES:
        return np.asarray(cKDTree(points).query(X)[1], dtype=np.int64)
    return nearest_choices(X, points)


def _wrong(X: Float64Array, leaves: IndexArray, chosen: np.ndarray) -> IndexArray:
    """Return points outside the set that a route through it, with its rounding, leads astray."""
    points = X[chosen]
    doubtful = np.flatnonzero(~chosen)
    if X.shape[1] <= _TREE_FEATURES and len(points) > 1:
        distance = cKDTree(points).query(X[doubtful], k=2)[0] ** 2
        rounding = 1e-13 * float((X**2).sum(axis=1).max())
        doubtful = doubtful[distance[:, 1] - distance[:, 0] <= rounding]
    found = leaves[chosen][nearest_choices(X[doubtful], points)]
    return np.asarray(doubtful[found != leaves[doubtful]], dtype=np.int64)
