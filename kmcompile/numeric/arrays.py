"""Array types, and read-only copies of arrays as every Program and KernelMachine holds them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

Float64Array = NDArray[np.float64]
Float32Array = NDArray[np.float32]
Real = np.floating[Any]
RealArray = NDArray[Any]
"""An array of float32, or of float64 in the replay: numpy has no name for this choice of two."""


@dataclass(frozen=True, slots=True)
class AtLeast:
    """What a number, or each one of an array, is not below: a part of its field's annotation."""

    least: int


Bound = Annotated[np.float32, AtLeast(0)]
"""A bound on an error: a negative one would be none."""
RealBound = Annotated[Real, AtLeast(0)]
BoundArray = Annotated[Float32Array, AtLeast(0)]
RealBoundArray = Annotated[RealArray, AtLeast(0)]
Count = Annotated[int, AtLeast(0)]
Positive = Annotated[int, AtLeast(1)]


def magnitude(values: RealArray) -> Any:
    """Return |v| of every element; the dtype stays."""
    return np.abs(values)


def rounded_sum(values: Iterable[float]) -> float:
    """Return the sum of finite numbers, rounded once; infinity if a partial sum overflows."""
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf


def frozen(values: Any, dtype: Any = np.float64) -> NDArray[Any]:
    """Return a C-contiguous copy of `values` that cannot be written to.

    Raises
    ------
    ValueError
        If an integer type does not hold a value.
    """
    with np.errstate(invalid="ignore"):  # infinity is no integer, which is an error below
        array = np.array(values, dtype=dtype, order="C", copy=True)
    if array.dtype.kind in "iu" and not np.array_equal(array, values):
        raise ValueError(f"{array.dtype} does not hold all of these numbers")
    array.setflags(write=False)
    return array


def lane_blocks(rows: Float64Array, lanes: int, dtype: type[Real] = np.float32) -> RealArray:
    """Return rows as blocks, shape (n_blocks, n_columns, lanes), filled up with 0."""
    n_blocks = -(-len(rows) // lanes)
    padded = np.zeros((n_blocks * lanes, rows.shape[1]), dtype=dtype)
    padded[: len(rows)] = rows
    return np.ascontiguousarray(padded.reshape(n_blocks, lanes, -1).transpose(0, 2, 1))


def finite(values: Any) -> NDArray[Any]:
    """Return a read-only float32 copy of half-widths, clipped to -2^120 .. 2^120.

    No intermediate result of an accepted input is larger than 2^120 (`numeric.rounding`), so an
    interval with this half-width excludes nothing, like an infinite one. Unlike infinity, 2^120 has
    a literal in C, and a sum of several does not overflow.
    """
    largest = np.float32(2.0**120)
    return frozen(np.clip(np.asarray(values, dtype=np.float32), -largest, largest), np.float32)
