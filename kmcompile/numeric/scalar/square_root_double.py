"""A square root in float64: the same bits here and in the emitted C."""

from __future__ import annotations

from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.scalar.square_root import square_root as float32_square_root

SMALLEST: Final = 2.0**-180
"""RELATIVE_ERROR holds for v from here on; below, the result is only at most sqrt(SMALLEST)."""

RELATIVE_ERROR: Final = 2.0**-52
"""Bound on |result / sqrt(v) - 1| for SMALLEST <= v <= 2^126, contracted or not.

Let u = 2^-53. The float32 root has a relative error of 1.5 * 2^-24: its own rounding, and half of
that of v. A step of Heron, (y + v / y) / 2, turns a relative error e into e^2 / 2 (1 + e) and adds
1.5 u of rounding: v / y rounds by u and is half of the sum, and the sum rounds by u. The first step
leaves (1.5 * 2^-24)^2 / 2 + 1.5 u < 2^-47.8, the second 2^-96 + 1.5 u. Scaling by powers of two is
exact.
"""


def square_root(v: Float64Array) -> Float64Array:
    """Return sqrt(v) by two steps of Heron's from the float32 root.

    Parameters
    ----------
    v : ndarray of any shape, float64
        0 .. 2^126.

    Returns
    -------
    ndarray of the same shape, float64
        For v >= SMALLEST within RELATIVE_ERROR of sqrt(v); for smaller v at most sqrt(SMALLEST).

    Examples
    --------
    >>> square_root(np.array([0.0, 2.0, 9.0, 2.0**-100])).tolist()
    [0.0, 1.414213562373095, 3.0, 8.881784197001252e-16]
    """
    tiny = v < 2.0**-64
    scaled = np.where(tiny, v * 2.0**128, v)
    known = ~(scaled < 2.0**-64)  # true of NaN, which only a damaged table can give
    usable = np.where(known, scaled, 1.0)
    root = float32_square_root(usable.astype(np.float32)).astype(np.float64)
    root = 0.5 * (root + usable / root)
    root = 0.5 * (root + usable / root)
    result: Float64Array = np.where(tiny, root * 2.0**-64, root)
    return np.where(known, result, 0.0)
