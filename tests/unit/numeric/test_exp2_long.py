"""2^-t in integers of 64 bits: its error, by 50 digits."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import factorial, log, mp, mpf, nint

from kmcompile.numeric.scalar.exp2_long import (
    ARGUMENT_BITS,
    ARGUMENT_END,
    LONG,
    PRODUCT_ERROR,
    RELATIVE_ERROR,
    RESULT_BITS,
    SHIFT_ERROR,
    SHORT,
    SHORT_BITS,
    exp2_negative,
    upper_product,
)

ONE = 1 << ARGUMENT_BITS
HALF = 1 << 32


def ends() -> list[int]:
    """Return fractions around every power of two and around those of 32 bits, and the largest."""
    powers = [1 << k for k in range(ARGUMENT_BITS)]
    found = {p + d for p in powers for d in (-1, 0, 1)} | {ONE - p for p in powers}
    found |= {(k << 25) - 1 for k in range(1, HALF, HALF // 97)}  # the last 25 bits are dropped
    return sorted(f for f in found if 0 <= f < ONE)


def random_fractions(n: int, seed: int) -> list[int]:
    return np.random.default_rng(seed).integers(0, ONE, size=n).tolist()


def error(t: int) -> mpf:
    """Return the error of 2^-t in units of its last place, and what is allowed."""
    value = int(exp2_negative(np.array([t], dtype=np.uint64))[0])
    return mpf(value) - mpf(2) ** (RESULT_BITS - mpf(t) / ONE)


def check(fractions: list[int]) -> float:
    """Return the largest error before the shift, relative to its bound."""
    worst = 0.0
    with mp.workdps(50):
        for f in fractions:
            exact = mpf(2) ** (RESULT_BITS - mpf(f) / ONE)
            off = error(f)
            assert -(exact * RELATIVE_ERROR + 1) <= off <= exact * RELATIVE_ERROR
            worst = max(worst, float(off / exact / RELATIVE_ERROR))
    return worst


def test_fractions_lie_within_the_bound():
    check(ends() + random_fractions(500, 1))


@pytest.mark.exhaustive
def test_many_fractions_lie_within_the_bound():
    check(random_fractions(50_000, 2))


def test_the_function_before_the_shift_is_within_its_bound():
    """Python's integers, without the last shift: what the 40 bits of a result do not show."""
    with mp.workdps(50):
        worst = 0.0
        for f in ends() + random_fractions(500, 3):
            exact = mpf(2) ** (63 - mpf(f) / ONE)
            worst = max(worst, float(abs(before_shift(f) / exact - 1)))
    assert RELATIVE_ERROR / 100 < worst < RELATIVE_ERROR


def before_shift(t: int) -> int:
    """Return 2^(63 - f) of a fraction as the function has it before it shifts."""
    f = t << 7
    short, mask = f >> 32, HALF - 1

    def upper(a: int, b: int) -> int:
        return (
            (a >> 32) * (b >> 32) + ((a >> 32) * (b & mask) >> 32) + ((a & mask) * (b >> 32) >> 32)
        )

    rest = SHORT[-1]
    for coefficient in SHORT[-2::-1]:
        rest = coefficient - (short * rest >> 32)
        assert 0 <= rest < HALF
    slope = LONG[-1] - (short * rest >> (32 + SHORT_BITS - 64))
    for coefficient in LONG[-2::-1]:
        slope = coefficient - upper(f, slope)
        assert 0 <= slope < 1 << 64
    value = (1 << 63) - (upper(f, slope) >> 1)
    assert value >> 23 == int(exp2_negative(np.array([t], dtype=np.uint64))[0])
    return value


def test_whole_parts_only_shift():
    fractions = np.array(ends()[::7], dtype=np.uint64)
    first = exp2_negative(fractions)
    with mp.workdps(50):
        for n in (1, 2, 19, 20, 39):
            shifted = exp2_negative(fractions + np.uint64(n << ARGUMENT_BITS))
            assert (shifted >> np.uint64(0) <= first >> np.uint64(n)).all()
            for t, value in zip(fractions.tolist(), shifted.tolist(), strict=True):
                exact = mpf(2) ** (-n - mpf(t) / ONE)
                off = abs(mpf(value) / 2**RESULT_BITS - exact)
                assert off <= exact * RELATIVE_ERROR + SHIFT_ERROR


def test_the_ends_of_the_arguments():
    """0 gives exactly 1; the largest argument, and the one behind it, shift by at most 63."""
    ends_ = exp2_negative(np.array([0, ARGUMENT_END - 1, ARGUMENT_END], dtype=np.uint64))
    assert ends_.tolist() == [1 << RESULT_BITS, 1, 1]


def test_coefficients_are_rounded_from_the_exact_numbers():
    with mp.workdps(50):
        terms = [log(2) ** k / factorial(k) for k in range(1, 16)]
        assert tuple(int(nint(c * 2**64)) for c in terms[:7]) == LONG
        assert tuple(int(nint(c * 2**SHORT_BITS)) for c in terms[7:14]) == SHORT
        assert terms[14] < mpf(2) ** -48


def test_upper_products_are_below_by_less_than_their_bound():
    rng = np.random.default_rng(4)
    some = [0, 1, HALF - 1, HALF, HALF + 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1]
    some += rng.integers(0, 1 << 64, size=60, dtype=np.uint64).tolist()
    for a in some:
        for b in some:
            one = upper_product(np.array([a], np.uint64), np.array([b], np.uint64))
            below = (a * b >> 64) - int(one[0])
            assert 0 <= below < PRODUCT_ERROR
