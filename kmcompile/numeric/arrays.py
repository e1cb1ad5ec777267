"""Read-only arrays: what every object of the IR holds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64Array = NDArray[np.float64]
Float32Array = NDArray[np.float32]
Real = np.floating[Any]
RealArray = NDArray[Any]
"""float32, or float64 in the replay: numpy's types have no name for the one or the other."""


def magnitude(values: RealArray) -> Any:
    """Return |v| of every element, in its own format."""
    return np.abs(values)


def rounded_sum(values: Iterable[float]) -> float:
    """Return the sum of finite numbers, rounded once; infinity where it overflows on the way."""
    try:
        return math.fsum(values)
    except OverflowError:
        return math.inf


def frozen(values: Any, dtype: Any = np.float64) -> NDArray[Any]:
    """Return a C-contiguous copy of `values` that cannot be written to."""
    array = np.array(values, dtype=dtype, order="C", copy=True)
    array.setflags(write=False)
    return array


def lane_blocks(rows: Float64Array, lanes: int, dtype: type[Real] = np.float32) -> RealArray:
    """Return rows as blocks, shape (n_blocks, n_columns, lanes), filled up with 0."""
    n_blocks = -(-len(rows) // lanes)
    padded = np.zeros((n_blocks * lanes, rows.shape[1]), dtype=dtype)
    padded[: len(rows)] = rows
    return np.ascontiguousarray(padded.reshape(n_blocks, lanes, -1).transpose(0, 2, 1))


def finite(values: Any) -> NDArray[Any]:
    """Return a read-only float32 copy in which 2^120 stands for infinity.

    No intermediate of an accepted input is larger (`numeric.rounding`), so a half-width of that
    size does what an infinite one does; it has a C literal, and sums of some do not overflow.
    """
    largest = np.float32(2.0**120)
    return frozen(np.clip(np.asarray(values, dtype=np.float32), -largest, largest), np.float32)
