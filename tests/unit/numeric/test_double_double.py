"""Numbers of twice float64's precision, against rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from kmcompile.numeric.double_double import SQUARED_ROUNDOFF, DoubleDouble


def exact(numbers: DoubleDouble) -> list[Fraction]:
    pairs = zip(numbers.high.ravel(), numbers.low.ravel(), strict=True)
    return [Fraction(float(high)) + Fraction(float(low)) for high, low in pairs]


def numbers(seed: int, n: int = 200) -> DoubleDouble:
    rng = np.random.default_rng(seed)
    high = rng.normal(size=n) * 10.0 ** rng.integers(-20, 20, size=n)
    return DoubleDouble.of(high).times(rng.normal(size=n))


def test_products_and_sums_are_within_their_errors():
    a, b = numbers(1), numbers(2)
    factor = np.random.default_rng(3).normal(size=200)
    for got, x, y in zip(exact(a.times(factor)), exact(a), factor, strict=True):
        want = x * Fraction(float(y))
        assert abs(got - want) <= 2 * Fraction(SQUARED_ROUNDOFF) * abs(want)
    for got, x, y in zip(exact(a.plus(b)), exact(a), exact(b), strict=True):
        assert abs(got - (x + y)) <= 4 * Fraction(SQUARED_ROUNDOFF) * abs(x + y)


def test_a_sum_of_rows_that_cancel_keeps_what_is_left():
    rng = np.random.default_rng(4)
    values = rng.normal(size=(101, 3)) * 1e8
    values = np.concatenate([values, -values[::-1], rng.normal(size=(7, 3)) * 1e-8])
    total = DoubleDouble.of(values).sum_of_rows()
    for column, got in enumerate(exact(total)):
        terms = [Fraction(float(v)) for v in values[:, column]]
        error = 4 * 9 * Fraction(SQUARED_ROUNDOFF) * sum(map(abs, terms))
        assert abs(got - sum(terms)) <= error
