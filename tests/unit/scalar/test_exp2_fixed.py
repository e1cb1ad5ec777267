"""2^-t in integers: its error, for every argument."""

from __future__ import annotations

import numpy as np

from kmcompile.scalar.exp2_fixed import (
    ARGUMENT_BITS,
    ARGUMENT_END,
    RELATIVE_ERROR,
    SHIFT_ERROR,
    exp2_negative,
)

_BLOCK = 1 << 20


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


def test_products_fit_64_bits() -> None:
    """The largest argument gives 0 or 1 units, the smallest exactly 1."""
    ends = exp2_negative(np.array([0, ARGUMENT_END - 1]))
    assert int(ends[0]) == 1 << 31
    assert int(ends[1]) == 0
