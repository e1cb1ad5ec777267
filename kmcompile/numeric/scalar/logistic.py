"""The logistic function 1 / (1 + exp(-v)) in float32: the same bits here and in the emitted C."""

from __future__ import annotations

from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.scalar.exp_negative import CUTOFF, exp_negative

RELATIVE_ERROR: Final = 4.6 * 2.0**-24
"""Bound on |logistic_here(v) / logistic(v) - 1| for v > -CUTOFF, infinity included.

Let u = 2^-24. The error of e is at most 1.5 u. For v < 0 three operations follow: 1 / e, then
1 + 1 / e, then the last quotient. None of them enlarges the relative error of its argument, and
each rounds once, by u. The terms of second order are below 0.1 u. For v >= 0 there is one operation
less, and e is at most half of 1 + e.
Evidence: tests/equivalence/test_logistic.py goes through every float32.
"""
RELATIVE_ERROR_TEXT: Final = f"{RELATIVE_ERROR * 2**24:g} * 2^-24"
CUTOFF_TEXT: Final = f"{CUTOFF:.2f}"

ABSOLUTE_ERROR: Final = 2.0**-125
"""Bound on the logistic function for v <= -CUTOFF, where the result is 0."""


def logistic(v: Float32Array) -> Float32Array:
    """Return 1 / (1 + e) for v >= 0 and 1 / (1 + 1 / e) for v < 0 with e = exp(-|v|).

    Parameters
    ----------
    v : ndarray of any shape, float32
        Infinities are allowed; NaN gives 0.

    Returns
    -------
    ndarray of the same shape, float32
        From 0 to 1, within RELATIVE_ERROR above -CUTOFF, exactly 0 up to there.

    Notes
    -----
    e is from 0 to 1, so that nothing overflows. The result never decreases as v grows: every
    operation is monotone, its rounding is, and `exp_negative` is, as the exhaustive test shows.
    e / (1 + e) would save one division, but is monotone only up to rounding, as its numerator and
    its denominator grow together.

    Examples
    --------
    >>> logistic(np.array([0.0, 2.0, -2.0, 1e9, -87.0], dtype=np.float32)).tolist()
    [0.5, 0.8807970285415649, 0.11920291930437088, 1.0, 0.0]
    """
    one = np.float32(1.0)
    e = exp_negative(np.abs(v))
    inverse = np.full_like(e, np.inf)
    np.divide(one, e, out=inverse, where=e > 0)
    return np.where(v >= 0, one / (one + e), one / (one + inverse))
