"""The cosine in float64: the same bits here and in the emitted C."""

from __future__ import annotations

from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float64Array

LIMIT: Final = np.float64(2.0**14)
"""The largest magnitude of an argument: that of float32."""

INVERSE_PI: Final = float.fromhex("0x1.45f306dc9c883p-2")
SHIFTER: Final = 1.5 * 2.0**52
"""Adding it rounds to an integer, which then stands in the lowest bits of the sum."""

PI_HIGH: Final = float.fromhex("0x1.921fb54442p+1")
"""40 bits of pi, a multiple of 2^-38, so that its products with |k| < 2^13 are exact."""
PI_LOW: Final = float.fromhex("0x1.a308d313198a3p-40")
"""pi - PI_HIGH, to 2^-95."""

COEFFICIENTS: Final = tuple(
    float.fromhex(text)
    for text in (
        "0x1p-1",
        "0x1.5555555555555p-5",
        "0x1.6c16c16c16c17p-10",
        "0x1.a01a01a01a01ap-16",
        "0x1.27e4fb7789f5cp-22",
        "0x1.1eed8eff8d898p-29",
        "0x1.93974a8c07c9dp-37",
        "0x1.ae7f3e733b81fp-45",
        "0x1.6827863b97d97p-53",
        "0x1.e542ba4020225p-62",
        "0x1.0ce396db7f853p-70",
    )
)
"""1/2!, 1/4!, .. 1/22!: cos(s) = 1 - x (1/2! - x (1/4! - x (1/6! - ..))), x = s^2, Taylor."""

ABSOLUTE_ERROR: Final = 5.5 * 2.0**-53
"""Bound on |cosine(v) - cos(v)| for |v| <= LIMIT, contracted or not.

With u = 2^-53, to first order, |s| <= pi/2 + 2^-37 and x = s^2 <= 2.468:

- Reduction: k PI_HIGH is exact, and so is v - k PI_HIGH: for k = 0 it is v, otherwise both are
  multiples of 2^-52 and it is below 2. k PI_LOW is below 2^-26, its storage and product are off
  by less than 2^-78. The last difference rounds by at most u, its half unit in the last place
  below 2, and the cosine's slope is at most 1: u.
- x rounds by u x; the slope of cos(sqrt(x)) is at most sin(s) / (2 s): u s sin(s) / 2 <= 0.79 u.
- Horner's rule: q_1 = (1 - cos s) / x <= 1/2, x q_2 = 1/2 - q_1 <= 0.095, q_2 <= 1/24,
  x q_3 = 1/24 - q_2 <= 0.0033, q_3 <= 1/720. |error_3| <= 0.003 u;
  |error_2| <= u (2 / 24 + 0.0033) + x |error_3| <= 0.095 u (storage, difference, product);
  |error_1| <= u (0.5 + 0.095) + x |error_2| <= 0.83 u.
- x q_1 <= 1.001: 0.83 u x + u <= 3.05 u. 1 - x q_1 is below 1 and rounds by u / 2.
- Taylor's remainder: x^12 / 24! <= 0.001 u.

1 + 0.79 + 3.05 + 0.5 + 0.001 < 5.4. A fused multiply-add only leaves out roundings that are
counted here.
"""
ABSOLUTE_ERROR_TEXT: Final = f"{ABSOLUTE_ERROR * 2**53:g} * 2^-53"


def cosine(v: Float64Array) -> Float64Array:
    """Return cos(v) = (-1)^k cos(s) with k = round(v / pi) and s = v - k pi.

    Parameters
    ----------
    v : ndarray of any shape, float64
        Finite; beyond LIMIT the result is meaningless.

    Returns
    -------
    ndarray of the same shape, float64
        Within ABSOLUTE_ERROR of cos(v) up to LIMIT, even in v to the bit, at most 1.

    Examples
    --------
    >>> cosine(np.array([0.0, 1.0, -3.0, 10000.0])).tolist()
    [1.0, 0.5403023058681398, -0.9899924966004454, -0.9521553682590148]
    """
    shifted = v * INVERSE_PI + SHIFTER
    k = shifted - SHIFTER
    s = (v - k * PI_HIGH) - k * PI_LOW
    x = s * s
    total = np.full_like(x, COEFFICIENTS[-1])
    for coefficient in COEFFICIENTS[-2::-1]:
        total = coefficient - x * total
    bits = (1.0 - x * total).view(np.uint64)
    # (-1)^k: the lowest bit of the sum becomes the sign.
    bits ^= shifted.view(np.uint64) << np.uint64(63)
    result: Float64Array = bits.view(np.float64)
    return result
