"""Derivatives of kernels agree with differences."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from kit.span_cases import KERNELS, central_difference
from kmcompile.kernels import Kernel


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_self_values_are_the_kernel_of_a_vector_with_itself(kernel: Kernel) -> None:
    X = np.random.default_rng(0).normal(size=(5, 3))
    exact = [kernel.values(x[None], x[None])[0, 0] for x in X]
    # Sums of 3 products in another order, raised to the 3rd power at most.
    assert_allclose(kernel.self_values(X), exact, rtol=3 * 8 * 2.0**-53)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_kernel_gradient_matches_differences(kernel: Kernel) -> None:
    rng = np.random.default_rng(1)
    Z, X, C = rng.normal(size=(2, 3)), rng.normal(size=(4, 3)), rng.normal(size=(2, 4))
    difference = central_difference(lambda Z: float((C * kernel.values(X, Z)).sum()), Z)
    found = kernel.gradient(Z, X, C)
    assert_allclose(found, difference, atol=1e-6 * np.abs(found).max())
    difference = central_difference(lambda Z: float(kernel.self_values(Z).sum()), Z)
    found = kernel.self_gradient(Z)
    assert_allclose(found, difference, atol=1e-6 * max(1.0, np.abs(found).max()))
