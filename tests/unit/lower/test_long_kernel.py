"""Kernel values and sums in integers lie within their bound, by 50 digits."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from mpmath import exp, mp, mpf

from kmcompile.lower.long_kernel import long_kernel, value_error
from kmcompile.program.stages.sums.long_kernel import LongKernel

GAMMAS = [
    Fraction(1, 3 << 12),  # falls to 0 just above the least limit
    Fraction(5, 7 * 10**9),
    Fraction(1, 3**20),
    Fraction(1, 1 << 60),
    Fraction(1, 10**40),  # never falls to 0
]


def squares(kernel: LongKernel, seed: int) -> list[int]:
    """Return squares below 2^63: at all scales, around the limit and around powers of two."""
    rng = np.random.default_rng(seed)
    found = [0, 1, 2, kernel.limit - 1, kernel.limit, kernel.limit + 1]
    found += [(1 << k) + d for k in range(2, 63) for d in (-1, 0, 1)]
    found += [int(x) for x in rng.random(300) * min(kernel.limit, 1 << 63)]
    return sorted({d for d in found if d < 1 << 63})


@pytest.mark.parametrize("most_units", [1 << 20, 1 << 43, 1 << 50])
@pytest.mark.parametrize("gamma", GAMMAS, ids=float)
def test_values_lie_within_their_bound(gamma, most_units):
    kernel = long_kernel(gamma, most_units)
    assert kernel is not None
    own = squares(kernel, 1)
    values = kernel.values(np.array(own, dtype=np.uint64)).tolist()
    unit = 2 ** (2 * kernel.half_bits)
    with mp.workdps(50):
        exact = [exp(-mpf(gamma.numerator) / gamma.denominator * d) for d in own]
        off = [abs(mpf(v) / unit - e) for v, e in zip(values, exact, strict=True)]
        bound = value_error(kernel)
        assert max(off) <= bound
        tight = max(off) > bound / 3  # no wider than what truncation takes
        assert tight or kernel.limit > 1 << 63
    assert max(values) == values[0] == unit
    assert all(v == 0 for v, d in zip(values, own, strict=True) if d >= kernel.limit)


def test_nothing_leaves_64_bits():
    for gamma in GAMMAS:
        kernel = long_kernel(gamma, 1 << 43)
        assert kernel is not None
        assert 0 < kernel.limit < 1 << 64
        assert (kernel.limit - 1) << kernel.shift < 1 << 64
        assert 0 <= kernel.factor < 1 << 64
        assert kernel.dropped_bits >= 0


@pytest.mark.parametrize("n", [1, 300, 70_000])
def test_sums_are_those_of_the_integers(n):
    """The largest units that are allowed, all of one sign and mixed: sums of halves are exact."""
    rng = np.random.default_rng(n)
    units = rng.integers((1 << 37) // n, (1 << 43) // n, size=(n, 2))
    units[:, 1] *= rng.choice([-1, 1], size=n)
    kernel = long_kernel(Fraction(1, 1 << 40), int(np.abs(units).sum(axis=0).max()))
    assert kernel is not None and kernel.half_bits == 20
    values = rng.integers(0, (1 << 40) + 1, size=(3, n)).astype(np.uint64)
    values[0] = 1 << 40
    sums = kernel.weighted(values, units)
    for row, own in zip(values.tolist(), sums, strict=True):
        for column, f in zip(units.T.tolist(), own, strict=True):
            exact = sum(v * u for v, u in zip(row, column, strict=True))
            allowed = 4 * 2.0**-53 * sum(abs(u) for u in column)
            assert abs(Fraction(exact, 1 << 40) - Fraction(float(f))) <= allowed


def test_units_too_coarse_for_a_kernel_and_too_many_coefficients_have_none():
    assert long_kernel(Fraction(1, 1000), 1 << 20) is None
    assert long_kernel(Fraction(1, 1 << 40), 1 << 51) is None
    coarse = long_kernel(Fraction(1, 1 << 40), 1 << 50)
    assert coarse is not None and coarse.half_bits == 12
