"""exp, tanh and the square root in float64 against 40 digits, and where they must be exact."""

import numpy as np
import pytest
from mpmath import mp, mpf

from kmcompile.numeric.scalar import exp_negative_double as exponential
from kmcompile.numeric.scalar import square_root_double as root
from kmcompile.numeric.scalar import tanh_double as tangent

DIGITS = 40
RNG = np.random.default_rng(0)
LN2 = np.log(2.0)


def worst(found: np.ndarray, of: np.ndarray, exact) -> float:
    """Return the largest relative error, to more digits than any bound here."""
    with mp.workdps(DIGITS):
        pairs = zip(of.tolist(), found.tolist(), strict=True)
        return float(max(abs(mpf(value) / exact(mpf(v)) - 1) for v, value in pairs))


def between_integers() -> np.ndarray:
    """Return arguments where n changes: there |s| is largest."""
    middle = (np.arange(1020) + 0.5) * LN2
    return np.concatenate([np.nextafter(middle, 0.0), middle, np.nextafter(middle, 1e3)])


def test_exp_negative_keeps_its_bound():
    z = np.concatenate([RNG.random(4000) * 707, RNG.random(4000), between_integers()])
    z = z[z < exponential.CUTOFF]
    found = exponential.exp_negative(z)
    assert worst(found, z, lambda v: mp.exp(-v)) <= exponential.RELATIVE_ERROR


def test_exp_negative_is_1_at_0_and_0_from_the_cutoff_on():
    z = np.array([0.0, 5e-324, 1e-300, 707.0, 1e300, np.inf])
    assert exponential.exp_negative(z).tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    last = exponential.exp_negative(np.array([np.nextafter(707.0, 0.0)]))
    assert last[0] >= 2.0**-1022


def test_products_of_n_with_the_high_part_of_ln_2_are_exact():
    n = np.arange(1021)
    high = mpf(exponential.LN2_HIGH)
    with mp.workdps(DIGITS):
        assert all(mpf(float(k * exponential.LN2_HIGH)) == int(k) * high for k in n)
        rest = mp.log(2) - high
        assert abs(rest) < mpf(2) ** -44
        assert abs(rest - mpf(exponential.LN2_LOW)) <= mpf(2) ** -53 * rest


def test_one_minus_exp_keeps_its_bound():
    s = np.concatenate([RNG.random(4000), 10.0 ** -RNG.uniform(0, 300, 500)])
    s *= exponential.REDUCED_END
    found = exponential.one_minus_exp(s)
    assert worst(found, s, lambda v: -mp.expm1(-v)) <= exponential.ONE_MINUS_ERROR


def test_tanh_keeps_its_bound():
    edge = exponential.REDUCED_END / 2
    around = edge * (1 + RNG.uniform(-1e-3, 1e-3, 500))
    v = np.concatenate([RNG.normal(size=4000), around, 10.0 ** RNG.uniform(-300, 2, 500)])
    assert worst(tangent.tanh(v), v, mp.tanh) <= tangent.RELATIVE_ERROR


def test_tanh_is_odd_and_never_above_1():
    v = np.concatenate([RNG.normal(size=500), [0.0, 1e-320, 1e300, 20.0]])
    assert np.array_equal(tangent.tanh(-v), -tangent.tanh(v))
    assert np.abs(tangent.tanh(v)).max() == 1.0


def test_square_root_keeps_its_bound():
    v = np.concatenate([RNG.random(4000) * 16, 2.0 ** RNG.uniform(-180, 126, 2000)])
    around = 2.0**-64 * (1 + RNG.uniform(-1e-9, 1e-9, 100))
    v = np.concatenate([v, around])
    assert worst(root.square_root(v), v, mp.sqrt) <= root.RELATIVE_ERROR


def test_square_root_does_not_lose_nan():
    assert np.isnan(root.square_root(np.array([np.nan]))).all()


@pytest.mark.parametrize("v", [0.0, 5e-324, 2.0**-1022, 2.0**-193])
def test_square_root_of_what_is_too_small_is_0(v):
    assert root.square_root(np.array([v])).tolist() == [0.0]
