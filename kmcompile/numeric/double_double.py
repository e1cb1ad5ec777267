"""Numbers of twice float64's precision: each is the unevaluated sum of two float64, high and low.

With u = 2^-53, numbers far from over- and underflow, and |low| <= u |high|: `times` has a relative
error of at most 2 u^2, `plus` of 4 u^2. So a row of `sum_of_rows` has at most 4 u^2 for each of its
additions, relative to the sum of magnitudes.

References
----------
Joldes, Muller, Popescu, Tight and rigorous error bounds for basic building blocks of double-word
arithmetic, ACM TOMS 44(2), 2017: algorithms 6 (3 u^2 + 13 u^3) and 7 (3/2 u^2 + 4 u^3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcompile.numeric.arrays import Float64Array

_SPLITTER = 2.0**27 + 1
"""Splits a float64 into two halves whose products are exact (Dekker 1971)."""

SQUARED_ROUNDOFF = 2.0**-106
"""u^2."""


@dataclass(frozen=True, slots=True, eq=False)
class DoubleDouble:
    """An array of numbers high + low.

    Parameters
    ----------
    high, low : ndarray of one shape, float64
    """

    high: Float64Array
    low: Float64Array

    @classmethod
    def of(cls, values: Float64Array) -> DoubleDouble:
        """Return the numbers of an array, exactly."""
        return cls(values, np.zeros_like(values))

    def times(self, factor: Float64Array) -> DoubleDouble:
        """Return the products with an array of float64 that has, or is broadcast to, the shape."""
        high, low = exact_product(self.high, factor)
        high, rest = _fast_sum(high, self.low * factor)
        return DoubleDouble(*_fast_sum(high, rest + low))

    def plus(self, other: DoubleDouble) -> DoubleDouble:
        """Return the sums."""
        high, rest = _exact_sum(self.high, other.high)
        low, last = _exact_sum(self.low, other.low)
        high, rest = _fast_sum(high, rest + low)
        return DoubleDouble(*_fast_sum(high, last + rest))

    def sum_of_rows(self) -> DoubleDouble:
        """Return the sum over the first axis; a row takes part in log2 of the rows, rounded up."""
        total = self
        while len(total.high) > 1:
            half = len(total.high) // 2
            pairs = total[:half].plus(total[half : 2 * half])
            rest = total[2 * half :]
            total = DoubleDouble(
                np.concatenate([pairs.high, rest.high]), np.concatenate([pairs.low, rest.low])
            )
        return total[0]

    def __getitem__(self, rows: Any) -> DoubleDouble:
        return DoubleDouble(self.high[rows], self.low[rows])


def exact_product(a: Float64Array, b: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return fl(a b) and its error: their sum is the product (Dekker)."""
    product = a * b
    a_high, a_low = _halves(a)
    b_high, b_low = _halves(b)
    error = ((a_high * b_high - product) + a_high * b_low + a_low * b_high) + a_low * b_low
    return product, error


def _halves(a: Float64Array) -> tuple[Float64Array, Float64Array]:
    wide = _SPLITTER * a
    high = wide - (wide - a)
    return high, a - high


def _exact_sum(a: Float64Array, b: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return fl(a + b) and its error (Knuth)."""
    total = a + b
    of_b = total - a
    return total, (a - (total - of_b)) + (b - of_b)


def _fast_sum(a: Float64Array, b: Float64Array) -> tuple[Float64Array, Float64Array]:
    """Return fl(a + b) and its error, where |a| >= |b| or a is 0 with b."""
    total = a + b
    return total, b - (total - a)
