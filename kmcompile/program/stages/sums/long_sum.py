"""The replay's sum of an rbf machine in float32, over integers of 64 bits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, Float64Array, RealArray
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Layout
from kmcompile.program.layout import Member
from kmcompile.program.piece import Piece
from kmcompile.program.stages.stage import Stage
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.sums.fine_sum import FineSum, by_slot, sizes_of
from kmcompile.program.stages.sums.sum import Sum
from kmcompile.program.stages.sums.vector_totals import VectorTotals

PART_BITS = 11
"""Bits of a unit of high parts that low parts have. A float32 of 29 bits may be 2^4 units off what
was trained, so that low parts of vectors have 16 bits with their sign."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LongSum(FineSum):
    """`FineSum` of vectors that a program in float32 holds, whose numbers have two parts.

    A number is high + low 2^-PART_BITS in units of 2^-scale_bits. The high part of a vector is the
    stored float32, scaled and cut off; its low part comes from a table, or is 0. An input is in
    units of low parts. With d and e the differences of high and of low parts,

        |S - X|^2 = sum d^2 + floor(2^(1 - PART_BITS) sum d e), at least 0,

    in integers of 64 bits. What is left out, sum e^2 2^(-2 PART_BITS) and less than 1, is part of
    the bound. A coefficient is the stored float32, scaled by 2^unit_bits and cut off, times
    2^coefficient_bits, with its low part. Groups and rows are those of `ExactSum`.

    Parameters
    ----------
    lows : ndarray of shape (n_slots, n_features), int16
        Low parts of the vectors; `vectors` holds the high ones.
    scale_bits, unit_bits : int
    """

    vectors: Annotated[NDArray[np.int32], Layout("", ("N_SLOTS", "N_PREPARED"))]
    lows: NDArray[np.int16]
    scale_bits: int
    unit_bits: int

    part_bits: ClassVar[int] = PART_BITS
    takes_fine_codes: ClassVar[bool] = False

    @property
    def vector_scale(self) -> np.float32:
        """What stored vectors are multiplied by."""
        return np.float32(2.0**self.scale_bits)

    @property
    def coefficient_scale(self) -> np.float32:
        """What stored coefficients are multiplied by."""
        return np.float32(2.0**self.unit_bits)

    def of_codes(self, batch: Batch, prepared: Batch) -> Batch:
        """Return `prepared`: no input comes as codes."""
        return prepared

    def distances(self, x: Float64Array) -> Float64Array:
        """Return |S - X|^2 as integers, shape (n_queries, n_slots)."""
        high, low = parted(x)
        square = np.zeros((len(x), self.n_slots), dtype=np.int64)
        cross = np.zeros_like(square)
        for j in range(x.shape[1]):
            d = self.vectors[:, j].astype(np.int64) - high[:, j, None]
            square += d * d
            d *= self.lows[:, j].astype(np.int64) - low[:, j, None]
            cross += d
        square += cross >> (PART_BITS - 1)
        distances: Float64Array = np.maximum(square, 0)
        return distances

    def last_members(self, exact: Sum) -> tuple[Member, ...]:
        """Return the parts of the input."""
        n = int(self.vectors.shape[1])
        return (
            Member("int32_t", "upper", n, "the input in units of the vectors"),
            Member("int32_t", "rest", n, "and what is left of it"),
        )

    def replay_pieces(self, exact: Sum) -> tuple[Piece, ...]:
        """Return the begin, the blocks and the end."""
        assert isinstance(exact, ExactSum)
        return self.in_blocks(exact.lanes, 0)

    def read(
        self, exact: Stage, low_vectors: RealArray, low_coefficients: RealArray
    ) -> dict[str, tuple[Any, Any]]:
        """Return what the sum adds up by name, and what the C reads in its place."""
        assert isinstance(exact, VectorTotals)
        low = low_coefficients
        high = by_slot(scaled_integers(exact.vectors, self.scale_bits))
        units = scaled_integers(exact.coefficients, self.unit_bits) << self.coefficient_bits
        units = by_slot(units + low if low.shape == units.shape else units)
        return {
            "low vectors": sizes_of(low_vectors, exact.vectors),
            "low coefficients": sizes_of(low, exact.coefficients),
            "vectors": (self.vectors, high),
            "low parts": (self.lows, by_slot(low_vectors) if low_vectors.size else 0 * high),
            "coefficients": (self.coefficients, self.step * units),
            **self.places(exact),
        }

    def places(self, exact: Sum) -> dict[str, tuple[Any, Any]]:
        """Return tables of places by name: these, and those of the exact sum."""
        assert isinstance(exact, ExactSum)
        ends = exact.group_ends.astype(np.int64) * exact.lanes
        return {
            "group_ends": (self.group_ends, ends),
            "group_decisions": (self.group_decisions, exact.group_decisions),
        }


def parted(x: Float64Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the high and low parts of integers in units of low parts, the high ones rounded.

    Examples
    --------
    >>> [part.tolist() for part in parted(np.array([2049.0, -2049.0, 1024.0]))]
    [[1, -1, 0], [1, -1, 1024]]
    """
    high = np.rint(np.ldexp(x, -PART_BITS))
    return high.astype(np.int64), (x - np.ldexp(high, PART_BITS)).astype(np.int64)


def scaled_integers(values: Float32Array, bits: int) -> NDArray[np.int64]:
    """Return values 2^bits, cut off towards 0, as the C converts them.

    Examples
    --------
    >>> scaled_integers(np.array([1.75, -1.75], dtype=np.float32), 1).tolist()
    [3, -3]
    """
    return np.ldexp(values.astype(np.float64), bits).astype(np.int64)
