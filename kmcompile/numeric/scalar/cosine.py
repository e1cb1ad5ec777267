"""The cosine in float32: the same bits here and in the emitted C."""

from __future__ import annotations

from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float32Array

LIMIT: Final = np.float32(2.0**14)
"""The largest magnitude of an argument: k is at most 5216 there, so that k PI_MIDDLE is exact."""

INVERSE_PI: Final = np.float32(float.fromhex("0x1.45f306p-2"))
SHIFTER: Final = np.float32(1.5 * 2.0**23)
"""Adding it rounds to an integer, which then stands in the lowest bits of the sum."""

PI_HIGH: Final = np.float32(float.fromhex("0x1.92p+1"))
"""8 bits of pi, 201 / 64, so that its products with |k| < 2^16 are exact."""
PI_MIDDLE: Final = np.float32(float.fromhex("0x1.fb4p-11"))
"""The next 11 bits, whose products with |k| < 2^13 are exact."""
PI_LOW: Final = np.float32(float.fromhex("0x1.4442d2p-23"))
"""pi - PI_HIGH - PI_MIDDLE, to 2^-48."""

COEFFICIENTS: Final = tuple(
    np.float32(float.fromhex(text))
    for text in ("0x1p-1", "0x1.555548p-5", "0x1.6c137ap-10", "0x1.9f6ea8p-16", "0x1.17f656p-22")
)
"""cos(s) ~ 1 - x (c1 - x (c2 - x (c3 - x (c4 - x c5)))) with x = s^2: minimax in absolute error
on |s| <= pi/2 + 2^-9 (Remez: 0.005 * 2^-24), rounded to float32: 0.08 * 2^-24."""

ABSOLUTE_ERROR: Final = 3.1 * 2.0**-24
"""Bound on |cosine(v) - cos(v)| for |v| <= LIMIT.

2.98 * 2^-24 as it stands, 2.44 * 2^-24 where a compiler contracts to fused multiply-adds.
Evidence: tests/equivalence/test_cosine.py goes through every float32.
"""
ABSOLUTE_ERROR_TEXT: Final = f"{ABSOLUTE_ERROR * 2**24:g} * 2^-24"


def cosine(v: Float32Array) -> Float32Array:
    """Return cos(v) = (-1)^k cos(s) with k = round(v / pi) and s = v - k pi.

    Parameters
    ----------
    v : ndarray of any shape, float32
        Finite; beyond LIMIT the result is meaningless.

    Returns
    -------
    ndarray of the same shape, float32
        Within ABSOLUTE_ERROR of cos(v) up to LIMIT, even in v to the bit, at most 1.

    Notes
    -----
    The products k PI_HIGH and k PI_MIDDLE are exact, and so are both differences [1]_: each is a
    multiple of q, the smaller of 2^-21 and the unit in the last place of v, and fits 24 bits. The
    error of s is then one rounding, below 2^-24, plus k times the part of pi that PI_LOW leaves
    out, below 2^-35. Where v / pi is within 2^-10 of the middle of two integers, k may be the
    farther one: the polynomial is accurate beyond pi / 2 by that much. The error bound is absolute,
    so that s needs no small error relative to v.

    References
    ----------
    .. [1] W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980, ch. 8.

    Examples
    --------
    >>> cosine(np.array([0.0, 1.0, -3.0, 10000.0], dtype=np.float32)).tolist()
    [1.0, 0.5403022766113281, -0.9899924993515015, -0.952155351638794]
    """
    c1, c2, c3, c4, c5 = COEFFICIENTS
    shifted = v * INVERSE_PI + SHIFTER
    k = shifted - SHIFTER
    s = ((v - k * PI_HIGH) - k * PI_MIDDLE) - k * PI_LOW
    x = s * s
    total = c4 - x * c5
    for coefficient in (c3, c2, c1):
        total = coefficient - x * total
    bits = (np.float32(1.0) - x * total).view(np.uint32)
    # (-1)^k: the lowest bit of the sum becomes the sign.
    bits ^= shifted.view(np.uint32) << np.uint32(31)
    result: Float32Array = bits.view(np.float32)
    return result
