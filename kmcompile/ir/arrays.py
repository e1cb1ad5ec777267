"""Read-only arrays: what every object of the IR holds."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Float64Array = NDArray[np.float64]
Float32Array = NDArray[np.float32]


def magnitude(values: Float32Array) -> Float32Array:
    """Return |v| of every element, in float32."""
    absolute: Float32Array = np.abs(values)
    return absolute


def frozen(values: Any, dtype: Any = np.float64) -> NDArray[Any]:
    """Return a C-contiguous copy of `values` that cannot be written to."""
    array = np.array(values, dtype=dtype, order="C", copy=True)
    array.setflags(write=False)
    return array


def finite(values: Any) -> NDArray[Any]:
    """Return a read-only float32 copy in which the largest float stands for infinity.

    A limit or half-width of that size does the same as an infinite one, and has a C literal.
    """
    largest = np.finfo(np.float32).max
    return frozen(np.clip(np.asarray(values, dtype=np.float32), -largest, largest), np.float32)
