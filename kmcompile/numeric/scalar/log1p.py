"""log(1 + u) for u >= 0, in float32 or float64: the same bits here and in the emitted C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from kmcompile.numeric.arrays import Real, RealArray

COEFFICIENTS: Final = tuple(
    np.float32(float.fromhex(text))
    for text in ("0x1.555502p-1", "0x1.99d208p-2", "0x1.1ebd0ep-2", "0x1.1ed7bep-2")
)
"""log(1 + f) ~ 2 s + s q (c1 + q (c2 + q (c3 + q c4))), s = f / (2 + f), q = s^2: minimax in
relative error on 0 <= f <= 1 (Remez: 0.075 * 2^-24), rounded to float32: 0.092 * 2^-24."""

COEFFICIENTS_DOUBLE: Final = tuple(np.float64(2.0 / (2 * k + 1)) for k in range(1, 17))
"""2/3, 2/5, .. 2/33: log(1 + f) = 2 atanh(s) = 2 s + s q (2/3 + q (2/5 + ..)), Taylor. The rest is
at most 9/8 q^17 / 35 < 0.02 * 2^-53, relative."""

ROUNDOFFS: Final = 3.5
"""Bound on |log1p_here(u) / log(1 + u) - 1|, in unit roundoffs v, where s does not underflow: from
u = 2^-124 or 2^-1020 on. Contracted or not.

To first order, in units of v, with s <= 1/3, q <= 1/9, L = log(1 + f) <= 0.6932:

- u < 1: f = u. 2 + f rounds by 1 / (1 + f / 2) = 1 - s, relative, and the quotient by 1. In L this
  counts s / ((1 - s^2) atanh(s)) times, together at most 2, and 1.83 where L >= 0.5.
- s q P(q) is at most 0.0383 L. P rounds by less than 2.4, q and the two products by 1 each: less
  than 0.21 L. s + s is exact, the sum rounds by 1, and the series is off by 0.1: 3.31 L in all, and
  3.14 L where L >= 0.5.
- u >= 1: w = 1 + u rounds, which moves log(w) by 1. w = 2^e (1 + f), e >= 1, 0 <= f < 1, is exact.
  With E = e ln(2), the stored ln(2) is off by 0.302 E, its product for e > 1 by E, L as above, and
  the sum, of numbers that are 0 or more, rounds by 1: 1 + (1 + 0.302 E + 3.14 L) / (E + L) <= 3.45
  for e = 1, where L is largest, and less for e > 1 and for L < 0.5.

A fused multiply-add only leaves out roundings that are counted here. In float32 it is 2.97.
Evidence: tests/equivalence/test_scalar.py and test_other_roundings.py; Gappa proves it
(tests/evidence/rounding/logarithm.py).
"""


@dataclass(frozen=True, slots=True)
class Log1pView:
    """What templates/scalar/log1p.c.j2 needs.

    Parameters
    ----------
    word : str
        The type of the bits.
    fraction_bits, bias : int
        Bits below the exponent, and the exponent of 1.
    ln2 : float32 or float64
    coefficients : tuple of float32 or float64
    """

    word: str
    fraction_bits: int
    bias: int
    ln2: Real
    coefficients: tuple[Real, ...]
    roundoffs: str = f"{ROUNDOFFS:g}"

    @property
    def dtype(self) -> type[Real]:
        """The format."""
        return type(self.ln2)

    @property
    def smallest(self) -> str:
        """The least argument for which the bound is relative, for the C's comments."""
        return f"2^-{self.bias - 3}"

    @property
    def last(self) -> Real:
        """The coefficient that Horner's rule starts with."""
        return self.coefficients[-1]

    @property
    def others(self) -> tuple[Real, ...]:
        """The other coefficients, in the order of Horner's rule."""
        return self.coefficients[-2::-1]


VIEW: Final = Log1pView("uint32_t", 23, 127, np.float32(np.log(2.0)), COEFFICIENTS)
VIEW_DOUBLE: Final = Log1pView("uint64_t", 52, 1023, np.float64(np.log(2.0)), COEFFICIENTS_DOUBLE)


def log1p(u: RealArray) -> RealArray:
    """Return log(1 + u) = e ln(2) + log(1 + f) with 1 + u = 2^e (1 + f); e = 0 and f = u below 1.

    Parameters
    ----------
    u : ndarray of any shape, float32 or float64
        At least 0, finite.

    Returns
    -------
    ndarray of the same shape and dtype
        Within ROUNDOFFS unit roundoffs of log(1 + u), relative; below 2^-124 or 2^-1020 off by at
        most twice the smallest normal number more.

    Examples
    --------
    >>> log1p(np.array([0.0, 1.0, 2.0**-80, 1e30])).tolist()
    [0.0, 0.6931471805599453, 8.271806125530277e-25, 69.07755278982137]
    """
    view = VIEW if u.dtype == np.float32 else VIEW_DOUBLE
    one, two = view.dtype(1.0), view.dtype(2.0)
    word: type[np.unsignedinteger[Any]] = np.uint32 if u.dtype == np.float32 else np.uint64
    small = u < one
    bits = (one + u).view(word)
    exponent = (bits >> word(view.fraction_bits)) - word(view.bias)
    fraction = (bits - (exponent << word(view.fraction_bits))).view(view.dtype) - one
    f = np.where(small, u, fraction)
    e = np.where(small, view.dtype(0.0), exponent.astype(view.dtype))
    s = f / (two + f)
    q = s * s
    total = np.full_like(q, view.last)
    for coefficient in view.others:
        total = coefficient + q * total
    total = (s + s) + s * (q * total)
    result: RealArray = e * view.ln2 + total
    return result
