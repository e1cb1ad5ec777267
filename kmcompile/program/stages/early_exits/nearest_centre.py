"""The nearest of a few centres to each query, and the query's distance from it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array

LARGEST_RELATIVE = np.float32(2.0**-6)
"""Largest relative error of exp(-gamma |v|^2); beyond it exp(y) - 1 <= (1 + 2^-6) y could fail."""


def nearest(
    centres: Float32Array, x: Float32Array, child: NDArray[np.intp], n: int
) -> tuple[NDArray[np.intp], Float32Array]:
    """Return for each query the nearest of the n centres from `child` on, and |x - c|^2.

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


def turned(table: Float32Array, node: NDArray[np.intp]) -> tuple[Float32Array, NDArray[np.intp]]:
    """Return a table with its last axis first, and the row there of each query.

    Element j of a query's row is found[j][own]. Queries share the rows of their centres: the table
    is not repeated for each of them.

    Parameters
    ----------
    table : ndarray of shape (n_centres, ..., n), float32
    node : ndarray of shape (n_queries,), intp
    """
    if len(node) < len(table):
        table, node = table[node], np.arange(len(node))
    return np.ascontiguousarray(np.moveaxis(table, -1, 0)), node


@dataclass(frozen=True, slots=True, eq=False)
class Local:
    """The nearest centres of a batch of queries at one level of the tree.

    Parameters
    ----------
    node : ndarray of shape (n_queries,), intp
        Index of the nearest centre c.
    square : ndarray of shape (n_queries,), float32
        The computed |x - c|^2, called s in `LocalExpansion`.
    reach : ndarray of shape (n_queries,), float32
        Upper bound on the distance of the exactly prepared input from c, called p there.
    scale : ndarray of shape (n_queries,), float32
        The computed exp(-gamma s), called a^ there.
    relative : ndarray of shape (n_queries,), float32
        Bound on the relative error of the product of `scale` and the expansion, called q there.
    usable : ndarray of shape (n_queries,), bool
    """

    node: NDArray[np.intp]
    square: Float32Array
    reach: Float32Array
    scale: Float32Array
    relative: Float32Array
    usable: NDArray[np.bool_]

    def chosen(self, rows: NDArray[np.intp]) -> Local:
        """Return the rows of the chosen queries only."""
        return Local(
            self.node[rows],
            self.square[rows],
            self.reach[rows],
            self.scale[rows],
            self.relative[rows],
            self.usable[rows],
        )
