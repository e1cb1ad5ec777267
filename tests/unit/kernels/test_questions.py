"""What the compiler asks of a kernel has the answer that its values give."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields

import numpy as np
import pytest

from kmcompile.kernels import CATALOGUE, Kernel
from kmcompile.kernels.float32 import KernelContext
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

RNG = np.random.default_rng(5)
S, X = RNG.uniform(0.1, 2.0, size=(2, 9, 4))
KERNELS = [kind(*(2 for _ in fields(kind))) for kind in CATALOGUE]


def turned(rows: np.ndarray) -> np.ndarray:
    """Return rows turned about the origin, which changes no inner product and no distance."""
    turn, _ = np.linalg.qr(np.random.default_rng(6).normal(size=(4, 4)))
    return rows @ turn


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_values_of_rows_with_themselves_are_the_diagonal(kernel: Kernel):
    np.testing.assert_allclose(kernel.self_values(X), np.diag(kernel.values(X, X)), rtol=1e-12)


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_faster_values_are_the_values(kernel: Kernel):
    values, error = kernel.fast_values(S, X)
    assert (error <= 1e-11).all()
    np.testing.assert_allclose(values, kernel.values(S, X), rtol=1e-11)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.of_distance], ids=str)
def test_a_kernel_of_distances_may_be_moved_and_turned(kernel: Kernel):
    moved = kernel.values(turned(S + 3.0), turned(X + 3.0))
    np.testing.assert_allclose(moved, kernel.values(S, X), rtol=1e-10)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.of_inner_product], ids=str)
def test_a_kernel_of_inner_products_may_be_turned(kernel: Kernel):
    np.testing.assert_allclose(
        kernel.values(turned(S), turned(X)), kernel.values(S, X), rtol=1e-9, atol=1e-12
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_in_units_of_codes_a_kernel_has_the_same_values(kernel: Kernel):
    scaled = kernel.in_code_units(8.0)
    if scaled is not None:
        assert kernel.of_distance or kernel.of_inner_product
        # Products with powers of two round nothing.
        np.testing.assert_array_equal(scaled.values(8 * S, 8 * X), kernel.values(S, X))


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_the_order_of_the_features_does_not_matter(kernel: Kernel):
    order = [2, 0, 3, 1]
    np.testing.assert_allclose(
        kernel.values(S[:, order], X[:, order]), kernel.values(S, X), rtol=1e-12
    )


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_a_kernel_gives_what_it_says_that_it_has_and_nothing_else(kernel: Kernel):
    asked: dict[str, Callable[[], object]] = {
        "is_gaussian": lambda: kernel.gaussian_gamma,
        "is_polynomial": lambda: kernel.polynomial,
        "has_series": kernel.series,
        "has_gradient": lambda: kernel.gradient(X, S, np.ones((9, 9))),
        "has_reach": lambda: kernel.reach(KernelContext(4, 0.0, 4.0, 0.0, 0.0, False)),
    }
    for name, ask in asked.items():
        if getattr(kernel, name):
            ask()
        else:
            with pytest.raises((TypeError, NotImplementedError), match=kernel.name):
                ask()


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.is_gaussian], ids=str)
def test_a_gaussian_kernel_is_the_exponential_of_its_gamma(kernel: Kernel):
    square = ((X[:, None] - S) ** 2).sum(axis=2)
    expected = np.exp(-kernel.gaussian_gamma * square)
    # Either exponent is off by n + 4 roundings at most, and the exponential by 2 of its own.
    largest = kernel.gaussian_gamma * float(square.max())
    rtol = 2 * UNIT_ROUNDOFF_64 * (largest * (S.shape[1] + 4) + 2)
    np.testing.assert_allclose(kernel.values(S, X), expected, rtol=rtol)
    wider = np.exp(-0.5 * kernel.gaussian_gamma * square)
    np.testing.assert_allclose(kernel.of_gamma_times(0.5).values(S, X), wider, rtol=rtol)


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.has_series], ids=str)
def test_a_kernel_is_its_series_but_for_the_rest(kernel: Kernel):
    series = kernel.series()
    t = np.linspace(-1.0, 1.0, 201)
    values = kernel.values(np.ones((1, 1)), t[:, None])[:, 0]
    off = np.abs(values - np.polyval(series.factors[::-1], t))
    assert (off <= (series.rest or 0.0) * np.abs(t) ** 3 + 1e-12 * np.abs(values).max()).all()


@pytest.mark.parametrize("kernel", [k for k in KERNELS if k.slope is not None], ids=str)
def test_a_kernel_moves_by_at_most_its_slope(kernel: Kernel):
    distances = np.linspace(0.0, 4.0, 4001)
    values = kernel.values(np.zeros((1, 1)), distances[:, None])[:, 0]
    assert kernel.slope is not None
    assert (np.abs(np.diff(values)) <= kernel.slope * np.diff(distances) + 1e-15).all()
