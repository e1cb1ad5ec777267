"""A square root in float64: the same bits here and in the emitted C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.scalar.square_root import square_root as float32_square_root

SMALLEST: Final = 2.0**-180
"""Below it nothing is promised of the result but that it is not larger than the root."""

RELATIVE_ERROR: Final = 2.0**-52
"""Bound on |result / sqrt(v) - 1| for SMALLEST <= v <= 2^126, contracted or not.

With u = 2^-53. The float32 root has 1.5 * 2^-24: v's rounding counts half. A step of Heron's,
(y + v / y) / 2, turns a relative error e into e^2 / 2 (1 + e) and rounds: v / y by u, of half the
sum, and the sum by u. Two steps: (1.5 * 2^-24)^2 / 2 + 1.5 u < 2^-47.8, and of that 2^-96 + 1.5 u.
Scaling by powers of two is exact.
"""


@dataclass(frozen=True, slots=True)
class SquareRootDoubleView:
    """What templates/scalar/square_root_double.c.j2 needs: nothing."""


VIEW: Final = SquareRootDoubleView()


def square_root(v: Float64Array) -> Float64Array:
    """Return sqrt(v) by two steps of Heron's from the float32 root.

    Parameters
    ----------
    v : ndarray of any shape, float64
        0 .. 2^126.

    Returns
    -------
    ndarray of the same shape, float64
        Within RELATIVE_ERROR of sqrt(v) from SMALLEST on; below, the root of SMALLEST or less.

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
