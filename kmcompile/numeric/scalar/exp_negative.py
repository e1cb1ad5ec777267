"""exp(-z) for z >= 0 in float32: the same bits here and in the emitted C."""

from __future__ import annotations

from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float32Array

CUTOFF: Final = np.float32(float.fromhex("0x1.5bf5bcp+6"))
"""Arguments from here on give exactly 0: 86.99, the first one whose n is N_END. Below it every
result is a normal number, at least 1.65e-38."""
CUTOFF_BITS: Final = CUTOFF.view(np.uint32)
N_END: Final = 126
_BLOCK: Final = 1 << 14  # values whose temporaries stay in the second-level cache

LOG2_E: Final = np.float32(float.fromhex("0x1.715476p+0"))
SHIFTER: Final = np.float32(2.0**23)
"""Adding it rounds to an integer, which then stands in the lowest bits of the sum."""
SHIFTED_END: Final = (SHIFTER + np.float32(N_END)).view(np.uint32)

LN2_HIGH: Final = np.float32(float.fromhex("0x1.62e4p-1"))
"""15 bits of ln 2, so that its products with 0 .. 125 are exact."""
LN2_LOW: Final = np.float32(float.fromhex("0x1.7f7d1cp-20"))
"""ln 2 - LN2_HIGH."""

COEFFICIENTS: Final = tuple(
    np.float32(float.fromhex(text))
    for text in (
        "0x1.fffffcp-2",
        "-0x1.555492p-3",
        "0x1.5558f2p-5",
        "-0x1.1239dap-7",
        "0x1.6a2442p-10",
    )
)
"""exp(-s) ~ 1 - s + s^2 (c2 + c3 s + c4 s^2 + c5 s^3 + c6 s^4): minimax in relative error on
|s| <= ln(2)/2 + 2^-16 (Remez), rounded to float32."""

RELATIVE_ERROR: Final = 1.5 * 2.0**-24
"""Bound on |exp_negative(z) exp(z) - 1| for 0 <= z < CUTOFF.

1.37 * 2^-24 as it stands, 1.44 * 2^-24 where a compiler contracts to fused multiply-adds.
Evidence: tests/equivalence/test_scalar.py and test_other_roundings.py go through every float32.
"""
RELATIVE_ERROR_TEXT: Final = f"{RELATIVE_ERROR * 2**24:g} * 2^-24"


def exp_negative(z: Float32Array) -> Float32Array:
    """Return exp(-z) = 2^-n exp(-s) with n = round(z / ln 2) and s = z - n ln 2.

    Parameters
    ----------
    z : ndarray of any shape, float32
        At least 0; infinity is allowed.

    Returns
    -------
    ndarray of the same shape, float32
        Within RELATIVE_ERROR of exp(-z) below CUTOFF, exactly 0 from CUTOFF on.

    Notes
    -----
    The only error of s is the rounding of its low part [1]_. exp(-s) lies within 0.70 .. 1.42.
    The function subtracts n from the exponent bits, which is exact because the result is normal.

    References
    ----------
    .. [1] W. J. Cody and W. Waite, Software Manual for the Elementary Functions, 1980, ch. 6.

    Examples
    --------
    >>> exp_negative(np.array([0.0, 1.0, 86.99, np.inf], dtype=np.float32)).tolist()
    [1.0, 0.3678794503211975, 0.0, 0.0]
    """
    flat = z.reshape(-1)
    result = np.empty_like(flat)
    for start in range(0, flat.size, _BLOCK):
        stop = start + _BLOCK
        result[start:stop] = _exp_negative_block(flat[start:stop])
    return result.reshape(z.shape)


def _exp_negative_block(z: Float32Array) -> Float32Array:
    """Return exp(-z) of one block of values that fits the cache."""
    # The emitted C takes z without the limit: its result is masked to 0 beyond it in both.
    s = np.minimum(z, CUTOFF)
    shifted = s * LOG2_E
    shifted += SHIFTER
    n = shifted - SHIFTER
    product = n * LN2_HIGH
    s -= product
    np.multiply(n, LN2_LOW, out=product)
    s -= product
    bits = _exp_of_reduced(s, n, product).view(np.uint32)
    exponent = shifted.view(np.uint32)
    beyond = exponent >= SHIFTED_END
    exponent <<= np.uint32(23)
    bits -= exponent
    bits[beyond] = 0
    return bits.view(np.float32)


def _exp_of_reduced(s: Float32Array, square: Float32Array, product: Float32Array) -> Float32Array:
    """Return exp(-s) for |s| <= ln(2)/2; overwrite all three arrays."""
    c2, c3, c4, c5, c6 = COEFFICIENTS
    np.multiply(s, s, out=square)
    high = s * c5
    high += c4
    np.multiply(square, c6, out=product)
    high += product
    high *= square
    np.multiply(s, c3, out=product)
    product += c2
    high += product
    high *= square
    s -= high
    return np.subtract(np.float32(1.0), s, out=s)
