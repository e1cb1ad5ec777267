"""Inner products of the prepared input with the rows of a matrix: filters and projections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, Float64Array, lane_blocks
from kmcompile.program.laid import Laid
from kmcompile.program.shared import Shared

_MOST_LANES = 10
"""Sums that a core keeps in registers beside the loop's own values."""


@dataclass(frozen=True, slots=True, eq=False)
class InnerProducts(Laid):
    """y_r = <m_r, x>, each a plain sum in the order of the features.

    A matrix that is 0 outside some columns stores these columns and reads only their features. If
    inputs are sparse, the C runs over the nonzero features only. This changes no bit, because a
    feature of 0 adds +-0 to a sum that began with +0.

    Parameters
    ----------
    blocks : ndarray of shape (n_blocks, n_used, lanes), float32
        Row `block * lanes + lane` of the matrix; the padding rows of the last block are 0.
    n_rows : int
    columns : ndarray of shape (n_used,), uint16
        The features that are read, in increasing order; of shape (0,) if all are read.
    skip_zeros : bool
        Whether the C runs over the list of the stage `nonzeros`; never with `columns`.
    """

    blocks: Float32Array
    n_rows: int
    columns: NDArray[np.uint16]
    skip_zeros: bool

    @classmethod
    def of_rows(
        cls, rows: Float64Array, skip_zeros: bool, columns: NDArray[np.intp] | None = None
    ) -> InnerProducts:
        """Return the products with rows of shape (n_rows, n_used), rounded to float32."""
        n_blocks = -(-len(rows) // _MOST_LANES)
        lanes = -(-len(rows) // n_blocks)
        blocks = lane_blocks(rows, lanes)
        if columns is None:
            return cls(blocks, len(rows), np.zeros(0, np.uint16), skip_zeros)
        return cls(blocks, len(rows), columns.astype(np.uint16), skip_zeros=False)

    def __post_init__(self) -> None:
        Laid.__post_init__(self)
        if len(self.blocks) != -(-self.n_rows // self.blocks.shape[2]):
            raise ValueError(f"inner products of {self.n_rows} rows have other blocks")
        if len(self.columns) not in (0, self.blocks.shape[1]):
            raise ValueError("inner products have other columns than their rows")

    @property
    def n_blocks(self) -> int:
        """Blocks of rows."""
        return int(self.blocks.shape[0])

    @property
    def n_used(self) -> int:
        """Number of features that are read."""
        return int(self.blocks.shape[1])

    @property
    def lanes(self) -> int:
        """Rows of a block."""
        return int(self.blocks.shape[2])

    @property
    def n_padded(self) -> int:
        """Rows with the padding of the last block."""
        return self.n_blocks * self.lanes

    def of(self, x: Float32Array) -> Float32Array:
        """Return the products, shape (n_queries, n_rows)."""
        columns = self.blocks.transpose(1, 0, 2).reshape(self.n_used, -1)
        columns = np.ascontiguousarray(columns[:, : self.n_rows])
        if len(self.columns):
            x = x[:, self.columns]
        total = np.zeros((len(x), self.n_rows), dtype=np.float32)
        for feature, m in enumerate(columns):
            total += x[:, feature, None] * m
        return total

    def matrix(self, n_features: int) -> Float64Array:
        """Return the rows with all of their columns, shape (n_rows, n_features)."""
        rows = self.blocks.transpose(0, 2, 1).reshape(-1, self.n_used)[: self.n_rows]
        matrix = np.zeros((self.n_rows, n_features))
        matrix[:, self.columns if len(self.columns) else slice(None)] = rows
        return matrix

    def needs(self) -> frozenset[str]:
        """Return "nonzeros" if the C runs over the list of nonzero features."""
        return frozenset({"nonzeros"} if self.skip_zeros else ())

    def operations(self) -> int:
        """Return the multiply-adds for an input without zeros, padding included."""
        return int(self.blocks.size)

    def operations_of(self, x: Float32Array) -> NDArray[np.int64]:
        """Return the multiply-adds of each query."""
        if not self.skip_zeros:
            return np.full(len(x), self.operations(), dtype=np.int64)
        used: NDArray[np.int64] = np.count_nonzero(x, axis=1) * self.n_padded
        return used

    def shared(self) -> Shared:
        """Return the number of features, if all are read."""
        return () if len(self.columns) else (("N_PREPARED", self.n_used),)
