"""2^-t in integers of 64 bits, for t >= 0: the same numbers here and in the emitted C.

The argument t is a uint64 with 57 fractional bits, the result a uint64 with 40 fractional bits.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

ARGUMENT_BITS: Final = 57
"""Fractional bits of t."""

RESULT_BITS: Final = 40
"""Fractional bits of the result."""

ARGUMENT_END: Final = RESULT_BITS << ARGUMENT_BITS
"""t = 40. From here on 2^-t is at most 2^-40, and callers take 0 without a call."""

LONG: Final = (
    0xB17217F7D1CF79AC,
    0x3D7F7BFF058B1D51,
    0x0E35846B82505FC6,
    0x0276556DF749CEE5,
    0x005761FF9E299CC4,
    0x000A184897C363C4,
    0x0000FFE5FE2C4586,
)
"""ln(2)^k / k!, k = 1 .. 7, with 64 fractional bits."""

SHORT_BITS: Final = 51
"""Fractional bits of the coefficients behind those."""

SHORT: Final = (0xB160111D, 0x0DA929EA, 0x00F267A9, 0x000F4656, 0x0000E1DF, 0x00000C0B, 0x00000099)
"""ln(2)^k / k!, k = 8 .. 14, with 51 fractional bits."""

RELATIVE_ERROR: Final = 2.0**-45
"""Bound on |2^-f as computed / 2^-f - 1| for every f from 0 below 1, before the shift.

2^-f = 1 - f (c1 - f (c2 - ..)) with c_k = ln(2)^k / k!, Taylor's series, whose terms alternate and
fall: what is left out lies between 0 and c_15 f^15 < 2^-48.2. With v = 2^-51, each of the seven
steps behind c_7 is off by at most v / 2 for the coefficient, v for a truncated product, and 0.1 v
because f has only 32 bits there: 11.2 v, or 2^-47.5. Each of the seven steps before is off by at
most 4.5 2^-64, and the last halving by 2^-63. 2^-f is at least 1/2, so that the sum counts twice:
2 (2^-48.2 + 2^-47.5 + 2^-59) < 2^-45.7.
"""
RELATIVE_ERROR_TEXT: Final = "2^-45"

SHIFT_ERROR: Final = 2.0**-RESULT_BITS
"""Bound on the absolute error of the shift by the whole part of t."""

PRODUCT_ERROR: Final = 3
"""`upper_product` is below a b / 2^64 by less than this."""

_HALF: Final = np.uint64(32)
_LOW: Final = np.uint64(0xFFFFFFFF)
FRACTION_SHIFT: Final = 64 - ARGUMENT_BITS
LAST_SHIFT: Final = 63 - RESULT_BITS
JOIN_SHIFT: Final = 32 + SHORT_BITS - 64


def upper_product(a: NDArray[np.uint64], b: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return about the upper 64 bits of a b: three products of halves, each truncated.

    Examples
    --------
    >>> hex(int(upper_product(np.array([1 << 63], np.uint64), np.array([1 << 63], np.uint64))[0]))
    '0x4000000000000000'
    """
    a_high, a_low, b_high, b_low = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    product: NDArray[np.uint64] = (
        a_high * b_high + ((a_high * b_low) >> _HALF) + ((a_low * b_high) >> _HALF)
    )
    return product


def exp2_negative(t: NDArray[Any]) -> NDArray[np.uint64]:
    """Return 2^(40 - t) as an integer, truncated after every step.

    Parameters
    ----------
    t : ndarray of any shape, integer
        From 0 below ARGUMENT_END, in units of 2^-57.

    Returns
    -------
    ndarray of the same shape, uint64
        At most 2^40, in units of 2^-40.

    Examples
    --------
    >>> (exp2_negative(np.array([0, 1 << 57, 39 << 57], np.uint64)) / 2**40).tolist()
    [1.0, 0.5, 1.8189894035458565e-12]
    """
    t = t.astype(np.uint64)
    f = t << np.uint64(FRACTION_SHIFT)
    short = f >> _HALF
    rest = np.full_like(t, SHORT[-1])
    for coefficient in SHORT[-2::-1]:
        rest = np.uint64(coefficient) - ((short * rest) >> _HALF)
    first, *others = LONG[::-1]
    slope = np.uint64(first) - ((short * rest) >> np.uint64(JOIN_SHIFT))
    for coefficient in others:
        slope = np.uint64(coefficient) - upper_product(f, slope)
    value = np.uint64(1 << 63) - (upper_product(f, slope) >> np.uint64(1))
    return value >> (np.uint64(LAST_SHIFT) + (t >> np.uint64(ARGUMENT_BITS)))
