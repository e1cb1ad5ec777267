"""log(1 + u) in both formats against 40 digits, and what its derivation rests on."""

import numpy as np
import pytest
from mpmath import mp, mpf

from kmcompile.numeric.rounding import precision_of
from kmcompile.numeric.scalar.functions import LOG1P
from kmcompile.numeric.scalar.log1p import ROUNDOFFS, VIEW, VIEW_DOUBLE, log1p

DIGITS = 40
VIEWS = pytest.mark.parametrize("view", [VIEW, VIEW_DOUBLE], ids=["float32", "float64"])


def arguments(dtype: type) -> np.ndarray:
    """Return numbers of every size, and those about 1 and about where the exponent changes."""
    rng, few = np.random.default_rng(0), np.arange(-3, 4) * np.finfo(dtype).eps
    about = [2.0**k * (1 + few) - 1 for k in range(1, 30)] + [1 + few, 1 - few]
    sizes = [2.0 ** rng.uniform(-100, 119, 3000), rng.random(3000) * 3]
    return np.concatenate([*sizes, *about]).astype(dtype)


@VIEWS
def test_the_error_is_within_its_bound(view):
    u = arguments(view.dtype)
    with mp.workdps(DIGITS):
        pairs = zip(u.tolist(), log1p(u).tolist(), strict=True)
        worst = max(abs(mpf(found) / mp.log1p(mpf(v)) - 1) for v, found in pairs)
    assert worst <= LOG1P[view.dtype].relative_error


@VIEWS
def test_results_keep_type_and_shape_and_are_exact_at_0(view):
    u = np.zeros((2, 3), view.dtype)
    assert log1p(u).tolist() == u.tolist()
    assert log1p(u).dtype == view.dtype


@VIEWS
def test_the_series_and_ln_2_are_as_near_as_the_derivation_says(view):
    """The series is off by 0.1 roundoffs, relative to the logarithm, and ln 2 by 0.302."""
    v = mpf(precision_of(view.ln2).unit_roundoff)
    with mp.workdps(DIGITS):
        assert abs(mpf(float(view.ln2)) / mp.log(2) - 1) <= mpf("0.302") * v
        for f in (mpf(k) / 512 for k in range(1, 513)):
            s = f / (2 + f)
            q = s * s
            series = mp.fsum(mpf(float(c)) * q**k for k, c in enumerate(view.coefficients))
            assert abs((2 * s + s * q * series) / mp.log1p(f) - 1) <= mpf("0.1") * v


def test_what_an_error_of_s_counts_in_the_logarithm_and_the_share_of_the_last_terms():
    with mp.workdps(DIGITS):
        for s in (mpf(k) / 768 for k in range(1, 257)):
            counts = (2 - s) * s / ((1 - s * s) * mp.atanh(s))
            assert counts <= (mpf("1.83") if 2 * mp.atanh(s) >= mpf("0.5") else 2)
            assert 1 - s / mp.atanh(s) <= mpf("0.0383")


def test_the_bound_follows_from_the_parts_of_the_derivation():
    """The parts of the docstring of ROUNDOFFS, added up for every exponent and f."""
    for e in range(1, 30):
        E = e * np.log(2)
        for L in np.linspace(0, 0.6932, 200):
            own = 3.31 if L < 0.5 else 3.14
            assert 1 + (1 + (0.302 + (e > 1)) * E + own * L) / (E + L) <= ROUNDOFFS - 0.05
