"""Where a query is, as seen from the nearest of a few centres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array

LARGEST_RELATIVE = np.float32(2.0**-6)
"""Of the error of exp(-gamma |v|^2): with more, exp(y) - 1 <= (1 + 2^-6) y would not hold."""


def nearest(
    centres: Float32Array, x: Float32Array, child: NDArray[np.intp], n: int
) -> tuple[NDArray[np.intp], Float32Array]:
    """Return the nearest of n centres from `child` on, and |x - c|^2, of every query.

    Parameters
    ----------
    centres : ndarray of shape (n_centres, n_features), float32
    x : ndarray of shape (n_queries, n_features), float32
    child : ndarray of shape (n_queries,), intp
    n : int
    """
    best, square = child, np.zeros(len(x), dtype=np.float32)
    for number in range(n):
        total = np.zeros(len(x), dtype=np.float32)
        for feature, c in zip(x.T, centres[child + number].T, strict=True):
            difference = feature - c
            total += difference * difference
        nearer = (total < square) | (number == 0)
        best, square = np.where(nearer, child + number, best), np.where(nearer, total, square)
    return best, square


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """Where a query is at one level.

    Parameters
    ----------
    node : ndarray of shape (n_queries,), intp
        The centre.
    square, reach, scale, relative : ndarray of shape (n_queries,), float32
        s, p, a^ and q.
    usable : ndarray of shape (n_queries,), bool
    """

    node: NDArray[np.intp]
    square: Float32Array
    reach: Float32Array
    scale: Float32Array
    relative: Float32Array
    usable: NDArray[np.bool_]

    def chosen(self, rows: NDArray[np.intp]) -> Local:
        """Return that of some queries."""
        return Local(
            self.node[rows],
            self.square[rows],
            self.reach[rows],
            self.scale[rows],
            self.relative[rows],
            self.usable[rows],
        )
