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
def test_z_is_steepest_where_gamma_d_squared_is_1(alpha: float):
    kernel = RationalQuadratic(0.3, alpha)
    with mp.workdps(40):
        for d in (mpf(k) / 64 for k in range(640)):
            slope = mp.diff(lambda t: alpha * mp.log1p(kernel.gamma * t * t), d)
            assert slope <= mpf(kernel.slope) * (1 + mpf(10) ** -15)
        top = 1 / mp.sqrt(kernel.gamma)
        steepest = 2 * alpha * kernel.gamma * top / (1 + kernel.gamma * top**2)
    assert float(steepest) == pytest.approx(kernel.slope)


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
