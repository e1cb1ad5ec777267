"""Moments give the sums over all pairs of vectors, and take no more than their number says."""

from __future__ import annotations

from math import exp, factorial

import numpy as np
import pytest

from kmcompile.exits.certified import expansion_norms
from kmcompile.exits.certified.expansion_moments import (
    MANY,
    by_moments,
    moments,
    n_moments,
    roundings,
    squares,
    tail,
    traces,
)
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64


@pytest.mark.parametrize("n_features", [1, 2, 3, 5])
def test_moments_give_the_sums_over_all_pairs_but_for_the_roundings(n_features):
    rng = np.random.default_rng(n_features)
    t, c = rng.normal(size=(90, n_features)), rng.normal(size=(2, 90))
    order = 9
    found = moments(t, c, order)
    length = np.sqrt((t**2).sum(axis=1))
    k = np.arange(3, order + 1)
    size = (np.abs(c) @ length[:, None] ** k) ** 2
    own = roundings(90, n_features, order)
    off = (own + 2 * 90 + k * (n_features + 4) + 8) * UNIT_ROUNDOFF_64 * size
    by_pairs, _ = expansion_norms._traces(t, c, c, order)
    assert (np.abs(traces(found, n_features) - by_pairs) <= off).all()
    apart = squares(found, n_features, order) - expansion_norms._squares(t, c, order)
    assert (np.abs(apart) <= off[:, :, None, None]).all()


@pytest.mark.parametrize("n_features", [1, 2, 3])
def test_there_are_so_many_moments(n_features):
    t, c = np.ones((1, n_features)), np.ones((1, 1))
    assert np.count_nonzero(moments(t, c, 7)) == n_moments(n_features, 7)


@pytest.mark.parametrize("reach", [0.1, 1.0, 2.8])
def test_the_tail_is_the_sum_of_all_later_orders(reach):
    t, c = np.array([[3.0], [-11.0]]), np.array([[1.0, 1e-20], [0.0, -2.0]])
    found = tail(t, c, reach, 8)
    for row, bound in zip(c, found, strict=True):
        exact = 0.0
        for x, weight in zip(np.abs(t[:, 0]) * reach, np.abs(row), strict=True):
            later = sum(x**k / factorial(k) for k in range(9, 150))
            assert later <= exp(x) * (1 + 1e-12)
            exact += weight * later
        assert exact <= bound <= exact * (1 + 1e-6)


def test_moments_are_for_many_vectors_of_few_features():
    assert by_moments(50_000, 3, 36) and by_moments(MANY + 1, 2, 36)
    assert not by_moments(MANY, 3, 36) and not by_moments(50_000, 54, 36)
