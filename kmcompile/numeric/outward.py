"""Interval ends as float32, on the safe side."""

from __future__ import annotations

import numpy as np

from kmcompile.numeric.arrays import Float32Array, RealArray

RELATIVE = 2.0**-23
"""Twice what rounding to float32 moves a number."""
ABSOLUTE = 2.0**-126
"""At least what flushing a subnormal float32 moves it."""


def below(values: RealArray) -> Float32Array:
    """Return a float32 that is at most the value; a float32 is itself.

    Examples
    --------
    >>> bool(below(np.array([0.1]))[0] < 0.1), below(np.array([0.5], np.float32)).tolist()
    (True, [0.5])
    """
    if values.dtype == np.float32:
        return values
    return (values - (np.abs(values) * RELATIVE + ABSOLUTE)).astype(np.float32)


def above(values: RealArray) -> Float32Array:
    """Return a float32 that is at least the value; a float32 is itself."""
    return -below(-values)
