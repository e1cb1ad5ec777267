"""The bounds of the Matern kernels rest on facts about p(z) exp(-z)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpf
from sklearn.gaussian_process.kernels import Matern as OfScikitLearn

from kmcompile.kernels import Matern
from kmcompile.kernels.float32 import KernelContext
from kmcompile.kernels.matern import DEGREES
from kmcompile.numeric.rounding import FLOAT32, FLOAT64, UNIT_ROUNDOFF_64, Precision

CONTEXT = KernelContext(3, 0.0, 1.0, 0.0, 0.0, False)
Z = np.concatenate([np.linspace(0.0, 12.0, 2401), 2.0 ** np.arange(-80.0, 7.0)])


def factor(degree: int, z: mpf) -> mpf:
    return (mpf(1), 1 + z, 1 + z + z * z / 3)[degree]


@pytest.mark.parametrize("degree", DEGREES)
def test_values_are_those_of_scikit_learn(degree: int):
    nu, length = degree + 0.5, 0.7
    S, X = np.random.default_rng(1).normal(size=(2, 9, 4))
    kernel = Matern(np.sqrt(2 * nu) / length, degree)
    z = kernel.gamma * np.sqrt(((X[:, None] - S) ** 2).sum(axis=2))
    # Either z is off by n + 6 roundings at most, K by as much as z, and by its own 8 roundings.
    rtol = 2 * UNIT_ROUNDOFF_64 * (float(z.max()) * (S.shape[1] + 6) + 8)
    np.testing.assert_allclose(kernel.values(S, X), OfScikitLearn(length, nu=nu)(X, S), rtol=rtol)


@pytest.mark.parametrize("degree", DEGREES)
def test_the_logarithm_falls_by_at_most_z_and_never_grows(degree: int):
    """0 <= -K' / K <= 1: what z is off by bounds what K is off by."""
    with mp.workdps(40):
        for z in map(mpf, Z.tolist()):
            slope = -mp.diff(lambda t: mp.log(factor(degree, t)) - t, z)
            assert -(mpf(10) ** -15) <= slope <= 1 + mpf(10) ** -15


@pytest.mark.parametrize("degree", DEGREES)
def test_z_times_a_value_is_within_the_steepness(degree: int):
    kernel = Matern(1.0, degree).lower(CONTEXT)
    with mp.workdps(40):
        largest = max(z * factor(degree, z) * mp.exp(1 - z) for z in map(mpf, Z.tolist()))
    assert largest * (1 + 2.0**-18) <= kernel.steepness or degree == 0
    assert largest <= 1 + 2.0**-50 or degree > 0
    assert largest >= 0.98 * kernel.steepness


@pytest.mark.parametrize("precision", [FLOAT32, FLOAT64], ids=["float32", "float64"])
@pytest.mark.parametrize("degree", DEGREES)
def test_a_value_of_z_is_within_its_own_roundings(degree: int, precision: Precision):
    kernel = Matern(1.0, degree).lower(replace(CONTEXT, precision=precision))
    z = np.concatenate([Z, np.random.default_rng(2).uniform(0, 80, 500)]).astype(precision.dtype)
    values = kernel.of_argument(z)
    assert values.max() <= 1.0
    with mp.workdps(40):
        for own, value in zip(z.tolist(), values.tolist(), strict=True):
            real = factor(degree, mpf(own)) * mp.exp(-mpf(own))
            lost = kernel.absolute_error if own > 80 else 0.0
            assert abs(value - real) <= value * mpf(float(kernel.value_error)) + lost
