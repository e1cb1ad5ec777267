"""What the replay reads of float32 tables and of their low parts."""

from fractions import Fraction

import numpy as np

from kmcompile.lower.stored import flushed_norm, low_part, relative_error, stored
from kmcompile.numeric.rounding import FLOAT32, FLOAT64

RNG = np.random.default_rng(0)
VALUES = np.concatenate(
    [
        RNG.normal(size=2000),
        RNG.normal(size=500) * 10.0 ** RNG.uniform(-30, 30, 500),
        # Ties: the low part is half a unit in the last place of the high one.
        1.0 + 2.0**-24 * RNG.integers(0, 8, 100),
        np.nextafter(1.0 + 2.0**-24, [0.0, 2.0]),
    ]
)


def test_the_sum_of_both_parts_is_exact():
    high = VALUES.astype(np.float32)
    low = low_part(VALUES, high)
    both = stored(VALUES, FLOAT64, low_parts=True)
    for a, b, total in zip(high.tolist(), low.tolist(), both.tolist(), strict=True):
        assert Fraction(a) + Fraction(b) == Fraction(total)


def test_low_parts_leave_off_less_than_2_to_the_minus_48():
    values = VALUES[np.abs(VALUES) > 2.0**-70]  # below, a low part may be left off as subnormal
    error = relative_error(values, FLOAT64, low_parts=True)
    both = stored(values, FLOAT64, low_parts=True)
    for value, total in zip(values.tolist(), both.tolist(), strict=True):
        assert abs(Fraction(value) - Fraction(total)) <= Fraction(error) * abs(Fraction(total))
    assert error <= 2.0**-47


def test_without_low_parts_the_error_is_that_of_float32():
    error = relative_error(VALUES, FLOAT64, low_parts=False)
    assert 2.0**-25 < error <= 2.0**-23
    assert np.array_equal(stored(VALUES, FLOAT64, low_parts=False), VALUES.astype(np.float32))
    assert stored(VALUES, FLOAT32, low_parts=False).dtype == np.float32


def test_numbers_of_few_bits_have_no_low_parts():
    pixels = np.arange(256.0) / 16
    assert not low_part(pixels, pixels.astype(np.float32)).any()


def test_no_low_part_is_subnormal():
    tiny = 2.0 ** RNG.uniform(-149, -100, 1000)
    low = low_part(tiny, tiny.astype(np.float32))
    assert (np.abs(low[low != 0]) >= 2.0**-126).all()


def test_subnormal_entries_of_a_table_may_be_read_as_0():
    row = np.array([[2.0**-127, 2.0**-130, 1.0, 0.0]])
    moved = np.sqrt((row[row < 2.0**-126] ** 2).sum())
    assert flushed_norm(row) >= moved
    assert flushed_norm(row[:, 2:]) == 0.0
    assert flushed_norm(row.astype(np.float32)) >= moved
