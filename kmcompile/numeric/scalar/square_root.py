"""The correctly rounded square root in float32: the same bits here and in the emitted C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float32Array

RELATIVE_ERROR: Final = 2.0**-24
"""Bound on |result / sqrt(v) - 1|: one rounding, and no result is subnormal.

Evidence: tests/equivalence/test_scalar.py goes through every significand with both
parities of the exponent, and through every subnormal number.
"""


@dataclass(frozen=True, slots=True)
class SquareRootView:
    """The view of templates/scalar/square_root.c.j2, whose integer arithmetic needs no constant."""


VIEW: Final = SquareRootView()


def square_root(v: Float32Array) -> Float32Array:
    """Return the float32 nearest to sqrt(v).

    Parameters
    ----------
    v : ndarray of any shape, float32
        At least 0, finite; subnormal numbers are allowed.

    Returns
    -------
    ndarray of the same shape, float32
        Correctly rounded (IEEE 754-2019, 5.4.1), which determines every bit.

    Examples
    --------
    >>> square_root(np.array([0.0, 2.0, 9.0], dtype=np.float32)).tolist()
    [0.0, 1.4142135381698608, 3.0]
    """
    result: Float32Array = np.sqrt(v, dtype=np.float32)
    return result
