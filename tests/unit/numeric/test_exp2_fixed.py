"""2^-t in integers: its error, for every argument."""

from __future__ import annotations

import numpy as np
import pytest
from mpmath import mp, mpf

from kmcompile.numeric.scalar.exp2_fixed import (
    ARGUMENT_BITS,
    ARGUMENT_END,
    LINEAR,
    QUADRATIC,
    RELATIVE_ERROR,
    REST_SHIFT,
    SHIFT_ERROR,
    TABLE,
    exp2_negative,
)

_BLOCK = 1 << 20


@pytest.mark.exhaustive
def test_relative_error_of_every_fraction() -> None:
    """2^-f for all f below 1; numpy's exp2 in float64 is within 2^-51 of the exact value."""
    worst = 0.0
    for start in range(0, 1 << ARGUMENT_BITS, _BLOCK):
        f = np.arange(start, start + _BLOCK)
        exact = np.exp2(31 - f / 2.0**ARGUMENT_BITS)
        worst = max(worst, float(np.abs(exp2_negative(f) / exact - 1).max()))
    assert 0.9 * RELATIVE_ERROR < worst < RELATIVE_ERROR - 2.0**-50


def test_whole_part_only_shifts() -> None:
    """For every whole part the result is that of the fraction, shifted: 4,096 fractions."""
    f = np.linspace(0, (1 << ARGUMENT_BITS) - 1, 4096).astype(np.int64)
    whole = exp2_negative(f)
    for n in range(32):
        shifted = exp2_negative(f + (n << ARGUMENT_BITS))
        assert np.array_equal(shifted, whole >> np.uint64(n))
        exact = np.exp2(-n - f / 2.0**ARGUMENT_BITS)
        error = np.abs(shifted / 2.0**31 - exact)
        assert (error <= RELATIVE_ERROR * exact + SHIFT_ERROR).all()


def test_the_ends_of_the_arguments():
    """The largest argument gives 0 units, the smallest exactly 2^31."""
    ends = exp2_negative(np.array([0, ARGUMENT_END - 1]))
    assert int(ends[0]) == 1 << 31
    assert int(ends[1]) == 0


def test_no_product_leaves_64_bits_and_no_difference_is_negative():
    """Each at the end of its range, in Python's integers; entries are largest first."""
    r = ((1 << 20) - 1) << REST_SHIFT
    assert r < 1 << 32 and r * QUADRATIC < 1 << 64
    inner = LINEAR - (r * QUADRATIC >> 32)
    assert inner > 0 and r * LINEAR < 1 << 64
    drop = r * LINEAR >> 32
    assert drop < 1 << 32
    assert int(TABLE[0]) * drop < 1 << 64
    assert int(TABLE[0]) * drop >> 32 < int(TABLE[-1])


def test_the_table_is_rounded_from_the_exact_numbers():
    with mp.workdps(40):
        for i, entry in enumerate(TABLE):
            assert abs(mpf(int(entry)) - mpf(2) ** (31 - mpf(i) / 64)) <= mpf(1) / 2
    assert len(TABLE) == 64 and int(TABLE.max()) == 1 << 31


def test_the_worst_fraction_in_40_digits():
    """numpy's exp2 is what all others are compared with; the worst of them without it."""
    f = np.arange(1 << 20) << 6
    error = np.abs(exp2_negative(f) / np.exp2(31 - f / 2.0**ARGUMENT_BITS) - 1)
    with mp.workdps(40):
        for worst in np.argsort(-error)[:50]:
            exact = mpf(2) ** (31 - mpf(int(f[worst])) / 2**ARGUMENT_BITS)
            real = abs(mpf(int(exp2_negative(f[worst : worst + 1])[0])) / exact - 1)
            assert real < RELATIVE_ERROR
            assert abs(real - mpf(float(error[worst]))) < mpf(2) ** -50


def test_a_larger_exponent_never_has_a_larger_kernel_by_more_than_the_errors():
    """Between neighbours 2^-t falls by 1e-8 of it, as little as the error."""
    for start in range(0, 1 << ARGUMENT_BITS, _BLOCK << 3):
        k = exp2_negative(np.arange(start, start + _BLOCK)).astype(np.int64)
        assert (np.diff(k) <= 2 * RELATIVE_ERROR * k[:-1] + 1).all()
