"""The parts of pi and the polynomials of the cosine, against 50 digits."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from mpmath import mp, mpf

from kmcompile.numeric.scalar import cosine, cosine_double

DIGITS = 50
LARGEST_K = 5216
"""Of a product v / pi with |v| <= LIMIT, and one more."""


def test_the_largest_k_is_that_of_the_limit():
    assert float(cosine.LIMIT) / np.pi < LARGEST_K < 2**13
    assert float(cosine_double.LIMIT) == float(cosine.LIMIT)


def test_products_with_the_high_parts_of_pi_are_exact_and_the_rest_is_small():
    k = np.arange(LARGEST_K + 1)
    for part in (cosine.PI_HIGH, cosine.PI_MIDDLE):
        single = k.astype(np.float32) * part
        np.testing.assert_array_equal(single.astype(np.float64), k * float(part))
    with mp.workdps(DIGITS):
        high = mpf(cosine_double.PI_HIGH)
        assert all(mpf(float(n * cosine_double.PI_HIGH)) == int(n) * high for n in k)
        parts = (cosine.PI_HIGH, cosine.PI_MIDDLE, cosine.PI_LOW)
        left = mp.pi - mp.fsum(mpf(float(part)) for part in parts)
        assert abs(left) * LARGEST_K < mpf(2) ** -35
        assert abs(mp.pi - high - mpf(cosine_double.PI_LOW)) * LARGEST_K < mpf(2) ** -78


def polynomial(module: ModuleType, s):
    """Return 1 - x (c1 - x (c2 - ..)) in real numbers."""
    x, total = s * s, mpf(0)
    for coefficient in reversed(module.COEFFICIENTS):
        total = mpf(float(coefficient)) - x * total
    return 1 - x * total


@pytest.mark.parametrize(
    ("module", "slack", "bound"),
    [(cosine, 2.0**-9, 0.08 * 2.0**-24), (cosine_double, 2.0**-37, 0.2 * 2.0**-53)],
    ids=["float32", "float64"],
)
def test_the_polynomial_is_near_the_cosine_on_a_dense_grid(module, slack, bound):
    """Beyond pi / 2 as far as a k that is not the nearest can bring s."""
    with mp.workdps(DIGITS):
        end = mp.pi / 2 + slack
        grid = (end * n / 4000 for n in range(4001))
        assert max(abs(polynomial(module, s) - mp.cos(s)) for s in grid) <= bound


def test_the_double_keeps_its_bound():
    rng = np.random.default_rng(1)
    limit = float(cosine_double.LIMIT)
    halves = np.arange(1, 2 * limit / np.pi) * (np.pi / 2)
    v = np.concatenate([rng.uniform(-limit, limit, 5000), rng.normal(size=3000), halves])
    with mp.workdps(DIGITS):
        pairs = zip(v.tolist(), cosine_double.cosine(v).tolist(), strict=True)
        worst = max(abs(mpf(found) - mp.cos(mpf(x))) for x, found in pairs)
    assert worst <= cosine_double.ABSOLUTE_ERROR


@pytest.mark.parametrize("module", [cosine, cosine_double], ids=["float32", "float64"])
def test_it_is_even_and_leaves_its_argument_alone(module):
    v = np.linspace(-9, 9, 12).astype(type(module.LIMIT)).reshape(3, 4)
    before = v.copy()
    found = module.cosine(v)
    assert found.dtype == v.dtype
    np.testing.assert_array_equal(found, module.cosine(-v))
    np.testing.assert_array_equal(v, before)
