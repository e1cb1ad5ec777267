"""tanh in float32: the same bits here and in the emitted C."""

from __future__ import annotations

from typing import Final

import numpy as np

from kmcompile.numeric.arrays import Float32Array

LIMIT: Final = np.float32(8.0)
"""Beyond it the result stays at tanh(8) = 1 - 3.8 * 2^-24, which is within RELATIVE_ERROR."""

NUMERATOR: Final = tuple(
    np.float32(float.fromhex(text))
    for text in ("0x1.1363fcp-3", "0x1.d47e24p-9", "0x1.7013e2p-16", "0x1.06b94ap-26")
)
DENOMINATOR: Final = tuple(
    np.float32(float.fromhex(text))
    for text in ("0x1.df0756p-2", "0x1.acd92cp-6", "0x1.662a08p-12", "0x1.cae72cp-21")
)
"""tanh(v) ~ v (1 + n1 x + .. + n4 x^4) / (1 + d1 x + .. + d4 x^4) with x = v^2: minimax in
relative error on |v| <= 8 (rational Remez: 0.11 * 2^-24), rounded to float32, then varied by some
units in the last place for the smallest error with all roundings. All of them are positive, so
that nothing cancels."""

RELATIVE_ERROR: Final = 5.7 * 2.0**-24
"""Bound on |tanh_here(v) / tanh(v) - 1| for every finite v other than 0, where the result is v.

5.35 * 2^-24 where a compiler contracts to fused multiply-adds.
Evidence: tests/equivalence/test_scalar.py and test_other_roundings.py go through every float32.
"""
RELATIVE_ERROR_TEXT: Final = f"{RELATIVE_ERROR * 2**24:g} * 2^-24"


def tanh(v: Float32Array) -> Float32Array:
    """Return tanh(v) as one rational function, with v limited to -8 .. 8.

    Parameters
    ----------
    v : ndarray of any shape, float32
        Finite.

    Returns
    -------
    ndarray of the same shape, float32
        Within RELATIVE_ERROR of tanh(v), odd in v to the bit, below 1 in magnitude.

    Notes
    -----
    It takes one division and 19 other operations. The alternative, (1 - e) / (1 + e) with
    e = exp(-2 |v|) and a polynomial near 0, is within 2.5 * 2^-24 and takes about 45. In a kernel
    the rounding of the argument is a larger error than that of either.
    Where v^2 underflows to 0 or a subnormal, both polynomials are 1 and the result is v.

    Examples
    --------
    >>> tanh(np.array([0.25, -1.0, 50.0], dtype=np.float32)).tolist()
    [0.24491865932941437, -0.7615941166877747, 0.9999997615814209]
    """
    limited = np.clip(v, -LIMIT, LIMIT)
    x = limited * limited
    limited *= _polynomial(NUMERATOR, x)
    limited /= _polynomial(DENOMINATOR, x)
    return limited


def _polynomial(coefficients: tuple[np.float32, ...], x: Float32Array) -> Float32Array:
    """Return 1 + c1 x + c2 x^2 + .. by Horner's rule."""
    result = x * coefficients[-1]
    for coefficient in coefficients[-2::-1]:
        result += coefficient
        result *= x
    result += np.float32(1.0)
    return result
