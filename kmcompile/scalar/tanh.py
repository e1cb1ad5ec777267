"""tanh in float32: the same bits here and in the emitted C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from kmcompile.ir.arrays import Float32Array
from kmcompile.scalar.exp_negative import CUTOFF, exp_negative

SWITCH: Final = np.float32(0.5)
"""Below it the polynomial, from it on the exponential."""

COEFFICIENTS: Final = tuple(
    np.float32(float.fromhex(text))
    for text in ("-0x1.5554d6p-2", "0x1.10e9fcp-3", "-0x1.b28c78p-5", "0x1.1a7c1p-6")
)
"""tanh(v) ~ v + v^3 (c3 + c5 v^2 + c7 v^4 + c9 v^6): minimax in relative error on |v| <= 0.5
(Remez), rounded to float32."""

RELATIVE_ERROR: Final = 3.0 * 2.0**-24
"""Bound on |result / tanh(v) - 1| for every finite v other than 0 (where the result is v).

Evidence: tests/equivalence/test_scalar_tanh.py goes through every float32.
"""


@dataclass(frozen=True, slots=True)
class TanhView:
    """What templates/scalar/tanh.c.j2 needs."""

    switch: np.float32 = SWITCH
    c3: np.float32 = COEFFICIENTS[0]
    c5: np.float32 = COEFFICIENTS[1]
    c7: np.float32 = COEFFICIENTS[2]
    c9: np.float32 = COEFFICIENTS[3]
    relative_error: str = f"{RELATIVE_ERROR * 2**24:g} * 2^-24"


VIEW: Final = TanhView()


def tanh(v: Float32Array) -> Float32Array:
    """Return tanh(v) = (1 - e) / (1 + e) with e = exp(-2 |v|), and a polynomial below SWITCH.

    Parameters
    ----------
    v : ndarray of any shape, float32
        Finite.

    Returns
    -------
    ndarray of the same shape, float32
        Within RELATIVE_ERROR of tanh(v), odd in v to the bit, never above 1 in magnitude.

    Notes
    -----
    Where v^2 or the correction to v underflows, v is so large beside it that the result is v
    whatever the underflow gave.

    Examples
    --------
    >>> tanh(np.array([0.25, -1.0, 50.0], dtype=np.float32)).tolist()
    [0.24491865932941437, -0.7615941166877747, 1.0]
    """
    # The emitted C doubles |v| without the limit: exp(-2 |v|) is 0 beyond it in both.
    magnitude = np.minimum(np.abs(v), CUTOFF)
    e = exp_negative(magnitude + magnitude)
    result = np.subtract(np.float32(1.0), e)
    e += np.float32(1.0)
    result /= e
    np.copyto(result, _polynomial(magnitude, e), where=magnitude < SWITCH)
    return np.copysign(result, v, out=result)


def _polynomial(magnitude: Float32Array, square: Float32Array) -> Float32Array:
    """Return the minimax polynomial; overwrites `square`."""
    c3, c5, c7, c9 = COEFFICIENTS
    np.multiply(magnitude, magnitude, out=square)
    result = square * c9
    result += c7
    result *= square
    result += c5
    result *= square
    result += c3
    result *= square
    result *= magnitude
    result += magnitude
    return result
