"""exp(-z) for z >= 0 in float64: the same bits here and in the emitted C."""

from __future__ import annotations

from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float64Array

CUTOFF: Final = np.float64(707.0)
"""Arguments from here on give exactly 0. Below it n <= 1020 and every result is normal."""

LOG2_E: Final = float.fromhex("0x1.71547652b82fep+0")
SHIFTER: Final = 2.0**52
"""Adding it rounds to an integer, which then stands in the lowest bits of the sum."""

LN2_HIGH: Final = float.fromhex("0x1.62e42fefa38p-1")
"""ln 2 to a multiple of 2^-42: 42 bits, so that its products with 0 .. 1020 are exact."""
LN2_LOW: Final = float.fromhex("0x1.ef35793c7673p-45")
"""ln 2 - LN2_HIGH."""

COEFFICIENTS: Final = tuple(
    float.fromhex(text)
    for text in (
        "0x1p-1",
        "0x1.5555555555555p-3",
        "0x1.5555555555555p-5",
        "0x1.1111111111111p-7",
        "0x1.6c16c16c16c17p-10",
        "0x1.a01a01a01a01ap-13",
        "0x1.a01a01a01a01ap-16",
        "0x1.71de3a556c734p-19",
        "0x1.27e4fb7789f5cp-22",
        "0x1.ae64567f544e4p-26",
        "0x1.1eed8eff8d898p-29",
        "0x1.6124613a86d09p-33",
    )
)
"""1/2!, 1/3!, .. 1/13!: exp(-s) = 1 - (s - s^2 (1/2! - s (1/3! - s (1/4! - ..)))), Taylor."""

REDUCED_END: Final = 0.34
"""Up to here an argument is its own reduced one: n = 0."""

RELATIVE_ERROR: Final = 2.5 * 2.0**-53
"""Bound on |exp_negative(z) exp(z) - 1| for 0 <= z < CUTOFF, contracted or not.

With u = 2^-53, to first order, everything divided by exp(-s), which lies in 0.707 .. 1.415:

- Reduction: z log2(e) is off by less than 2^-41, so |s| <= ln(2)/2 + 2^-41 < 0.3466. n LN2_HIGH is
  exact, and so is z - n LN2_HIGH: for n > 0 both are multiples of 2^-54 and it is below 1/2.
  n LN2_LOW is below 2^-34, its storage and product are off by less than 2^-86. The last
  difference rounds: u |s| <= 0.347 u, which is also the relative error of exp(-s).
- q = 1/2! - s (1/3! - ..) <= 0.563 by Horner's rule: its stages q_k <= exp(0.3466) / k!, and
  |error_k| <= u (1/k! + q_k) + 0.3466 (error_(k+1) + u q_(k+1)) adds up to less than 0.78 u
  (1/2! is exact).
- s^2 q: 0.1202 (0.78 u + 2 u 0.563) <= 0.23 u. w = s - s^2 q rounds by u |w|.
- s < 0: |w| <= 0.415 and 1 - w rounds by u, relative: (0.23 + 0.415) u + u <= 1.65 u.
  s > 0: |w| <= 0.294 and 1 - w in 1/2 .. 1 rounds by u / 2: (0.23 + 0.294 + 0.5) u / 0.707
  <= 1.45 u.
- Taylor's remainder: |s|^14 / 14! / 0.707 < 0.06 u.

1.65 + 0.347 + 0.06 < 2.1. A fused multiply-add only leaves out roundings that are counted here.
"""
RELATIVE_ERROR_TEXT: Final = f"{RELATIVE_ERROR * 2**53:g} * 2^-53"

ONE_MINUS_ERROR: Final = 2.0 * 2.0**-53
"""Relative error of `one_minus_exp` on 0 <= s <= REDUCED_END.

s^2 q is off by 1.91 u s^2 (above: 0.78 u + 2 u 0.563), w >= s (1 - s/2) >= 0.83 s: 0.79 u, and w
rounds once. Where s^2 underflows the result is s.
"""
ONE_MINUS_ERROR_TEXT: Final = f"{ONE_MINUS_ERROR * 2**53:g} * 2^-53"


def exp_negative(z: Float64Array) -> Float64Array:
    """Return exp(-z) = 2^-n exp(-s) with n = round(z / ln 2) and s = z - n ln 2.

    Parameters
    ----------
    z : ndarray of any shape, float64
        At least 0; infinity is allowed.

    Returns
    -------
    ndarray of the same shape, float64
        Within RELATIVE_ERROR of exp(-z) below CUTOFF, exactly 0 from CUTOFF on.

    Examples
    --------
    >>> exp_negative(np.array([0.0, 1.0, 707.0, np.inf])).tolist()
    [1.0, 0.36787944117144233, 0.0, 0.0]
    """
    below = z < CUTOFF
    limited = np.where(below, z, 0.0)
    shifted = limited * LOG2_E + SHIFTER
    n = shifted - SHIFTER
    s = (limited - n * LN2_HIGH) - n * LN2_LOW
    bits = (1.0 - one_minus_exp(s)).view(np.uint64)
    bits -= shifted.view(np.uint64) << np.uint64(52)
    result: Float64Array = np.where(below, bits.view(np.float64), 0.0)
    return result


def one_minus_exp(s: Float64Array) -> Float64Array:
    """Return 1 - exp(-s) for |s| <= ln(2)/2.

    Examples
    --------
    >>> one_minus_exp(np.array([0.0, 1e-300, 0.25])).tolist()
    [0.0, 1e-300, 0.22119921692859512]
    """
    total = np.full_like(s, COEFFICIENTS[-1])
    for coefficient in COEFFICIENTS[-2::-1]:
        total = coefficient - s * total
    result: Float64Array = s - (s * s) * total
    return result
