"""Ends of intervals as float32, rounded outward."""

from __future__ import annotations

import numpy as np

from kmcompile.numeric.arrays import Float32Array, RealArray

RELATIVE = 2.0**-23
"""Twice the largest relative error of rounding to float32."""
ABSOLUTE = 2.0**-126
"""At least the largest absolute error of flushing a subnormal float32 to 0."""


def below(values: RealArray) -> Float32Array:
    """Return float32 numbers at or just below the values; float32 values stay as they are.

    Examples
    --------
    >>> bool(below(np.array([0.1]))[0] < 0.1), below(np.array([0.5], np.float32)).tolist()
    (True, [0.5])
    """
    if values.dtype == np.float32:
        return values
    return (values - (np.abs(values) * RELATIVE + ABSOLUTE)).astype(np.float32)


def above(values: RealArray) -> Float32Array:
    """Return float32 numbers at or just above the values; float32 values stay as they are."""
    return -below(-values)
