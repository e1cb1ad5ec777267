"""The bounds of the rational quadratic kernel rest on facts about log(1 + w)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpf
from sklearn.gaussian_process.kernels import RationalQuadratic as OfScikitLearn

from kmcompile.kernels import RationalQuadratic
from kmcompile.kernels.float32 import KernelContext
from kmcompile.numeric.rounding import FLOAT32, FLOAT64, UNIT_ROUNDOFF_64, Precision

CONTEXT = KernelContext(1, 0.0, 1.0, 0.0, 0.0, False)
ALPHAS = pytest.mark.parametrize("alpha", [0.05, 1.0, 30.0])


@ALPHAS
def test_values_are_those_of_scikit_learn(alpha: float):
    length = 0.7
    S, X = np.random.default_rng(1).normal(size=(2, 9, 4))
    kernel = RationalQuadratic(0.5 / alpha / length**2, alpha)
    squares = ((X[:, None] - S) ** 2).sum(axis=2)
    z = alpha * np.log1p(kernel.gamma * squares)
    # Ours: z is off by n + 6 roundings and 2 of log1p, K by as much and 2 of exp. Theirs: the base
    # by n + 7, K by alpha times this and 2 of the power.
    off = float(z.max()) * (S.shape[1] + 8) + alpha * (S.shape[1] + 7) + 4
    expected = OfScikitLearn(length, alpha)(X, S)
    np.testing.assert_allclose(kernel.values(S, X), expected, rtol=2 * UNIT_ROUNDOFF_64 * off)


@ALPHAS
def test_slopes_of_z_and_of_a_value_are_within_their_bounds(alpha: float):
    gamma, largest = mpf("0.3"), mpf(0)
    with mp.workdps(40):
        for d in (mpf(k) / 64 for k in range(1, 640)):
            z = alpha * mp.log1p(gamma * d * d)
            slope = 2 * alpha * gamma * d / (1 + gamma * d * d)
            assert abs(mp.diff(lambda t: alpha * mp.log1p(gamma * t * t), d) - slope) <= 1e-15
            assert slope <= alpha * mp.sqrt(gamma)
            assert slope <= mp.sqrt(alpha * gamma) * (1 + z)
            largest = max(largest, slope * mp.exp(-z))
    assert 0.999 * RationalQuadratic(0.3, alpha).slope <= largest
    assert largest <= RationalQuadratic(0.3, alpha).slope


def test_the_bound_on_z_covers_what_its_own_move_adds():
    """With r and z_error below 1 / 86.9: r / (1 - r) (1 + z (1 + z_error)) <= 1.03 r (1 + z)."""
    most = 1 / 86.9
    assert (1 + most) / (1 - most) <= 1.03


@pytest.mark.parametrize("precision", [FLOAT32, FLOAT64], ids=["float32", "float64"])
def test_for_large_alpha_the_bound_is_about_that_of_rbf(precision: Precision):
    context = replace(CONTEXT, vector_error=1e-7, precision=precision)
    kernel = RationalQuadratic(0.5 / 1e5, 1e5).lower(context)
    assert kernel.moves_with_z
    assert kernel.slope == kernel.z_slope <= 1.04 * np.sqrt(0.5)
    assert kernel.relative_error(precision.dtype(np.inf)) == 1.0
    assert kernel.usable_deviation < 1 / (float(kernel.z_slope) * float(kernel.exponential.limit))


def test_the_logarithm_of_1_plus_w_moves_by_at_most_what_w_moves():
    with mp.workdps(40):
        for w in (mpf(2) ** k for k in range(-40, 40)):
            assert 0 <= w / ((1 + w) * mp.log1p(w)) <= 1


@ALPHAS
@pytest.mark.parametrize("precision", [FLOAT32, FLOAT64], ids=["float32", "float64"])
def test_a_value_of_a_distance_is_within_its_bound(alpha: float, precision: Precision):
    kernel = RationalQuadratic(0.3, alpha).lower(replace(CONTEXT, precision=precision))
    rng = np.random.default_rng(2)
    totals = np.concatenate([10.0 ** rng.uniform(-30, 30, 400), rng.uniform(0, 9, 400), [0.0]])
    totals = totals.astype(precision.dtype)
    z, values = kernel.argument(totals), kernel.value(totals)
    assert values.max() <= 1.0
    error = values * (kernel.value_error + 2 * kernel.z_error * z) + kernel.absolute_error
    with mp.workdps(40):
        for own, value, bound in zip(totals.tolist(), values.tolist(), error.tolist(), strict=True):
            real = (1 + mpf("0.3") * own) ** -mpf(alpha)
            assert abs(value - real) <= bound
