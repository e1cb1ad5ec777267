"""What exits share that bound f about the nearest of a few centres."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.float32 import Float32Kernel
from kmcompile.numeric.arrays import Bound, Float32Array, magnitude
from kmcompile.numeric.batch import UNKNOWN, Batch
from kmcompile.numeric.scalar.root_bound import OPERATIONS, root_bound
from kmcompile.program.stages.early_exits.early_exit import EarlyExit
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.labels.proved import narrowed

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


class CentredExit(EarlyExit):
    """An exit with bounds about centres; `LocalExpansion` derives them and describes the fields."""

    __slots__ = ()

    centres: Float32Array
    branches: NDArray[np.uint16]
    decisions: NDArray[np.uint16]
    up: Bound
    relative: Bound
    relative_per_square: Bound
    relative_per_reach: Bound
    result_error: Bound

    needs_root_bound: ClassVar[bool] = True
    calls_kernel: ClassVar[bool] = True

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the indices, and that the centres are those of the branches."""
        super().check_tables(known)
        if len(self.centres) != np.cumprod(self.branches.astype(np.int64)).sum():
            raise ValueError(f"{self.name} has other centres than its branches lead to")

    @property
    def n_features(self) -> int:
        """Features of a centre."""
        return int(self.centres.shape[1])

    @property
    def n_rows(self) -> int:
        """Decisions of a centre."""
        return int(self.decisions.shape[1])

    def reach_of(
        self, square: Float32Array, deviation: Float32Array
    ) -> tuple[Float32Array, Float32Array]:
        """Return p, a bound on the distance of each query from its centre, and q.

        Parameters
        ----------
        square, deviation : ndarray of shape (n_queries,), float32
            s = |x^ - c|^2 and delta.
        """
        reach: Float32Array = root_bound(square) * self.up + deviation
        relative: Float32Array = (self.relative + self.relative_per_square * square) + (
            self.relative_per_reach * reach
        ) * deviation
        return reach, relative

    def bounds_of(
        self,
        intercept: Float32Array,
        h: Float32Array,
        error: Float32Array,
        minimum: Float32Array,
        scale: Float32Array,
        relative: Float32Array,
    ) -> tuple[Float32Array, Float32Array]:
        """Return bounds on f of rows with |h - h^| <= error, shape (n_queries, n_rows).

        Parameters
        ----------
        intercept, h, error, minimum : ndarray of shape (n_queries, n_rows), float32
            b, h^, E and the part of the bound that no input changes.
        scale, relative : ndarray of shape (n_queries,), float32
            a^ and q.
        """
        scale, relative = scale[:, None], relative[:, None]
        f = intercept + scale * h
        radius = scale * (error + relative * (error + magnitude(h)))
        radius = radius + (minimum + self.result_error * magnitude(f))
        return f - radius, f + radius

    @abstractmethod
    def _kernel(self, ends: Ends) -> Float32Kernel:
        """Return the kernel of the sum behind the stage."""

    def _search(self, n: int) -> int:
        """Return the multiply-adds of finding the nearest of n centres."""
        return n * (self.n_features + 2)

    def _local_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of p, the exponential and its error."""
        return OPERATIONS + self._kernel(ends).value_operations + 8


def narrowed_rows(
    batch: Batch, decisions: NDArray[np.intp], least: Float32Array, most: Float32Array
) -> Batch:
    """Return the batch with the bounds of some decisions.

    Parameters
    ----------
    decisions : ndarray of shape (n_queries, n_rows), intp
    least, most : ndarray of shape (n_queries, n_rows), float32
    """
    low, high = np.full_like(batch.least, -UNKNOWN), np.full_like(batch.most, UNKNOWN)
    np.put_along_axis(low, decisions, least, axis=1)
    np.put_along_axis(high, decisions, most, axis=1)
    return narrowed(batch, low, high)
