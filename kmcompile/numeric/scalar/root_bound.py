"""An upper bound on the square root in float32, cheap: the same bits here and in the emitted C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float32Array

_MAGIC: Final = 0x1FBD1DF5
_LEAST: Final = np.float32(2.0**-100)
_HALF: Final = np.float32(0.5)
_UP: Final = np.float32(1 + 2.0**-21)

OPERATIONS: Final = 7
"""Multiply-adds of `root_bound`."""


@dataclass(frozen=True, slots=True)
class RootBoundView:
    """What templates/scalar/root_bound.c.j2 needs."""

    magic: int = _MAGIC
    least: np.float32 = _LEAST
    up: np.float32 = _UP


VIEW: Final = RootBoundView()


def root_bound(v: Float32Array) -> Float32Array:
    """Return a float32 that is at least sqrt(v), and little more where v >= 2^-80.

    Halving the bits of v halves its exponent: s is within 4 % of sqrt(v). Any s > 0 has
    (s + v / s) / 2 >= sqrt(v), the arithmetic and the geometric mean; a step from a relative
    error of e leaves e^2 / 2, so two leave 4e-7. Division, addition and the last product round
    by 2^-24 each, halving is exact: 2^-21 on top makes up for that in the last step, and an
    error of the first one is one of s.

    Parameters
    ----------
    v : ndarray of any shape, float32
        From 0 to 2^126. 2^-100 is added, so that nothing underflows.

    Examples
    --------
    >>> bool(1.4142135 < root_bound(np.array([2.0], dtype=np.float32))[0] < 1.414216)
    True
    """
    v = v + _LEAST
    s = (np.ascontiguousarray(v).view(np.uint32) >> np.uint32(1)) + np.uint32(_MAGIC)
    root: Float32Array = s.view(np.float32)
    for _ in range(2):
        root = (root + v / root) * _HALF
    return root * _UP
