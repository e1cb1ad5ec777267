"""Support vectors as integer codes, and exact sums over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.ir.arrays import frozen
from kmcompile.ir.table import Table

GROUP = 4
"""Features that are stored together."""


@dataclass(frozen=True, slots=True, eq=False)
class CodeTable:
    """Integer support vectors: <s, x> and |s - x|^2 of integer inputs without any rounding.

    A sum of integers does not depend on its order, so no order is part of the meaning.

    Parameters
    ----------
    codes : ndarray of shape (n_slots, n_used), int64
        The vectors at the features that are 0 in some of them only.
    columns : ndarray of shape (n_used,), uint16
        Those features, increasing.
    n_features : int
    width : str
        How a code is stored: "uint8", "int8" or "int16".
    low, high : int
        What the codes of an input are proved to lie within.
    wide : bool
        Whether sums need 64 bits; otherwise <s, x> fits an int32 and |s - x|^2 a uint32.
    sparse : bool
        Whether only groups of four features are stored that are not all 0.
    """

    codes: NDArray[np.int64]
    columns: NDArray[np.uint16]
    n_features: int
    width: str
    low: int
    high: int
    wide: bool
    sparse: bool

    def __post_init__(self) -> None:
        object.__setattr__(self, "codes", frozen(self.codes, np.int64))
        object.__setattr__(self, "columns", frozen(self.columns, np.uint16))

    @property
    def n_slots(self) -> int:
        """Vectors, fillings included."""
        return int(self.codes.shape[0])

    @property
    def n_used(self) -> int:
        """Features that take part in an inner product."""
        return int(self.codes.shape[1])

    @property
    def drops_columns(self) -> bool:
        """Whether there are features that are 0 in every vector."""
        return self.n_used < self.n_features

    @property
    def n_padded(self) -> int:
        """Codes of a stored row: whole groups."""
        return -(-self.n_used // GROUP) * GROUP

    @property
    def squares(self) -> NDArray[np.int64]:
        """|s|^2 of every vector."""
        squares: NDArray[np.int64] = (self.codes**2).sum(axis=1)
        return squares

    def products(self, x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return <s, x> for inputs of shape (n_queries, n_features), (n_queries, n_slots)."""
        # Below 2^53 every partial sum of the matrix product is exact, in any order.
        used = x[:, self.columns].astype(np.float64)
        exact: NDArray[np.float64] = used @ self.codes.T.astype(np.float64)
        return exact.astype(np.int64)

    def distances(self, x: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return |s - x|^2 = |s|^2 + |x|^2 - 2 <s, x>; the features left out count in |x|^2."""
        own: NDArray[np.int64] = (x**2).sum(axis=1)[:, None]
        return self.squares + own - 2 * self.products(x)

    def largest_product(self) -> int:
        """Return a bound on |<s, x>| and every partial sum of it."""
        most = max(abs(self.low), abs(self.high))
        return int(np.abs(self.codes).sum(axis=1).max(initial=0)) * most

    def largest_distance(self) -> int:
        """Return a bound on |s - x|^2 and on |s|^2."""
        most = max(abs(self.low), abs(self.high))
        apart = np.maximum(self.high - self.codes, self.codes - self.low)
        dropped = (self.n_features - self.n_used) * most**2
        return int((apart**2).sum(axis=1).max(initial=0)) + dropped

    def operations(self) -> int:
        """Return the multiply-adds of all inner products: those that are stored."""
        if not self.sparse:
            return self.n_slots * self.n_padded
        return GROUP * int(self._filled().sum())

    def _groups(self) -> NDArray[np.int64]:
        """Return the codes as (n_slots, n_groups, GROUP), filled up with 0."""
        padding = self.n_padded - self.n_used
        return np.pad(self.codes, ((0, 0), (0, padding))).reshape(self.n_slots, -1, GROUP)

    def _filled(self) -> NDArray[np.bool_]:
        """Return which groups are stored in the sparse form, (n_slots, n_groups)."""
        filled: NDArray[np.bool_] = (self._groups() != 0).any(axis=2)
        return filled

    def tables(self) -> tuple[Table, ...]:
        """Return the vectors, |s|^2 and, where some features are left out, the others' numbers."""
        groups = self._groups()
        squares = self.squares.astype(np.uint64 if self.wide else np.uint32)
        tables = [Table("squares", squares, "|s|^2: [vector]")]
        if self.drops_columns:
            tables.append(Table("columns", self.columns, "features that are not 0 everywhere"))
        if not self.sparse:
            rows = groups.reshape(self.n_slots, -1).astype(self.width)
            return (Table("vectors", rows, "support vectors: [vector][feature]"), *tables)
        filled = self._filled()
        places = np.nonzero(filled)[1]
        place_type = np.uint8 if groups.shape[1] <= 256 else np.uint16
        ends = np.cumsum(filled.sum(axis=1)).astype(np.uint32)
        return (
            Table("vectors", groups[filled].astype(self.width), "fours of features: [place][four]"),
            Table("places", places.astype(place_type), "which fours are stored: [place]"),
            Table("vector_ends", ends, "the place after a vector's last one: [vector]"),
            *tables,
        )
