"""The nearest of a growing set of points, of many rows at once."""

from __future__ import annotations

import numpy as np

from kmcompile.numeric.arrays import Float64Array
from kmcompile.training.neighbours import IndexArray
from kmcompile.training.routes import half_squares

_BLOCK_VALUES = 1 << 19
"""Products of a block: it stays in a processor's cache until its maxima are found."""


class NearestSoFar:
    """The nearest point, among some rows of X, of each row of X, and how near a second one is.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float64

    Attributes
    ----------
    squared : ndarray of shape (n,), float64
        The squared distance to the nearest point so far, infinite before the first.
    nearest : ndarray of shape (n,), int64
        The row of X that is the nearest point; of equally near ones the first row.
    second : ndarray of shape (n,), float64
        The smallest squared distance of the other points, to within `slack`.
    slack : float
        At least the rounding errors of `second`, and of the scores of a route.
    """

    def __init__(self, X: Float64Array) -> None:
        self.squared = np.full(len(X), np.inf)
        self.nearest = np.zeros(len(X), dtype=np.int64)
        self.second = np.full(len(X), np.inf)
        self._X, self._half = X, half_squares(X)
        # Two scores x c - |c|^2 / 2 are off by (d + 2) eps |x|^2 each, squared distances by twice.
        relative = 8 * (X.shape[1] + 8) * np.finfo(np.float64).eps
        self.slack = relative * float(2 * self._half.max(initial=0.0))

    def add(self, new: IndexArray) -> None:
        """Compare all rows with further points, given as ascending rows of X."""
        points, half = self._X[new], self._half[new]
        size = max(1, _BLOCK_VALUES // max(1, len(new)))
        for start in range(0, len(self._X) if len(new) else 0, size):
            rows = slice(start, start + size)
            self._compare(rows, new, self._X[rows] @ points.T - half)

    def close(self, chosen: np.ndarray) -> IndexArray:
        """Return the rows outside a set whose two nearest points are too near to be told apart.

        Parameters
        ----------
        chosen : ndarray of shape (n,), bool
            The rows that were added.
        """
        return np.flatnonzero(~chosen & (self.second - self.squared <= self.slack))

    def _compare(self, rows: slice, new: IndexArray, score: Float64Array) -> None:
        best = score.argmax(axis=1)
        found = new[best]
        distance = ((self._X[rows] - self._X[found]) ** 2).sum(axis=1)
        score[np.arange(len(score)), best] = -np.inf
        other = 2 * (self._half[rows] - score.max(axis=1))
        squared, nearest, second = self.squared[rows], self.nearest[rows], self.second[rows]
        # The farther one of the two nearest points is a second one, too.
        np.minimum(second, np.minimum(other, np.maximum(squared, distance)), out=second)
        closer = (distance < squared) | ((distance == squared) & (found < nearest))
        squared[closer], nearest[closer] = distance[closer], found[closer]
