"""An upper bound on the square root in float32, cheap: the same bits here and in the emitted C."""

from __future__ import annotations

from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float32Array

MAGIC: Final = 0x1FBD1DF5
LEAST: Final = np.float32(2.0**-100)
_HALF: Final = np.float32(0.5)
UP: Final = np.float32(1 + 2.0**-21)

OPERATIONS: Final = 7
"""Multiply-adds of `root_bound`."""


def root_bound(v: Float32Array) -> Float32Array:
    """Return a float32 that is at least sqrt(v), and close to sqrt(v) where v >= 2^-80.

    Halving the bits of v halves the exponent, which gives a start s within 4.5 % of sqrt(v). Two
    steps of Heron follow: s becomes (s + v / s) / 2, which is at least sqrt(v) for any s > 0, as an
    arithmetic mean is at least the geometric mean. A step turns a relative error e into e^2 / 2,
    so that 5e-7 remains. In the last step the division, the addition and the last product round by
    2^-24 each and the halving is exact: a factor 1 + 2^-21 covers these roundings. Rounding errors
    of the first step are only a different start of the second.

    Parameters
    ----------
    v : ndarray of any shape, float32
        From 0 to 2^126. 2^-100 is added, so that nothing underflows.

    Examples
    --------
    >>> bool(1.4142135 < root_bound(np.array([2.0], dtype=np.float32))[0] < 1.414216)
    True
    """
    v = v + LEAST
    s = (np.ascontiguousarray(v).view(np.uint32) >> np.uint32(1)) + np.uint32(MAGIC)
    root: Float32Array = s.view(np.float32)
    for _ in range(2):
        root = (root + v / root) * _HALF
    return root * UP
