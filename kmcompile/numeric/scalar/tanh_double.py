"""tanh in float64: the same bits here and in the emitted C."""

from __future__ import annotations

from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.scalar import exp_negative_double
from kmcompile.numeric.scalar.exp_negative_double import REDUCED_END, exp_negative, one_minus_exp

RELATIVE_ERROR: Final = 11.0 * 2.0**-53
"""Bound on |tanh_here(v) / tanh(v) - 1| for every finite normal v, contracted or not.

tanh |v| = p / (2 - p) with p = 1 - exp(-2 |v|), 2 |v| being exact. With u = 2^-53, to first order,
a relative error e_p of p becomes e_p 2 / (2 - p), since d ln(p / (2 - p)) / d ln p = 2 / (2 - p);
the difference and the quotient round once each: 2 u.

- 2 |v| <= REDUCED_END: e_p <= ONE_MINUS_ERROR = 2 u and p < 0.29: 2.4 u + 2 u.
- beyond: e_p <= 2.5 u (1 - p) / p + u falls with p >= 0.288, and so does e_p 2 / (2 - p) as long
  as it is above 2.5 u: at most 7.2 u 1.17 <= 8.5 u, + 2 u.
"""
RELATIVE_ERROR_TEXT: Final = f"{RELATIVE_ERROR * 2**53:g} * 2^-53"
assert exp_negative_double.RELATIVE_ERROR == 2.5 * 2.0**-53
assert exp_negative_double.ONE_MINUS_ERROR == 2.0 * 2.0**-53


def tanh(v: Float64Array) -> Float64Array:
    """Return tanh(v) = sign(v) p / (2 - p) with p = 1 - exp(-2 |v|).

    Parameters
    ----------
    v : ndarray of any shape, float64
        Finite.

    Returns
    -------
    ndarray of the same shape, float64
        Within RELATIVE_ERROR of tanh(v), odd in v to the bit, at most 1 in magnitude.

    Examples
    --------
    >>> tanh(np.array([0.25, -1.0, 50.0])).tolist()
    [0.24491866240370913, -0.7615941559557649, 1.0]
    """
    z = 2.0 * np.abs(v)
    small = z <= REDUCED_END
    p = np.where(small, one_minus_exp(np.where(small, z, 0.0)), 1.0 - exp_negative(z))
    quotient = p / (2.0 - p)
    result: Float64Array = np.where(v < 0.0, -quotient, quotient)
    return result
