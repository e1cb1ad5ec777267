"""The order statistic: exact against the binomial distribution, and in simulation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from kmcompile.monitor.order import least_samples, order, smallest_share


@pytest.mark.parametrize("share", [0.5, 0.1, 0.01, 0.001])
def test_the_least_number_of_samples_is_the_first_that_supports_the_share(share):
    n = least_samples(share)
    assert (1 - share) ** n <= 0.01 < (1 - share) ** (n - 1)
    assert order(n, share) == 1
    assert order(n - 1, share) == 0


@pytest.mark.parametrize("n", [44, 100, 1000, 5000])
@pytest.mark.parametrize("share", [0.3, 0.1, 0.02])
def test_the_place_is_the_largest_with_the_confidence(n, share):
    k = order(n, share)
    assert k == 0 or binom.cdf(k - 1, n, share) <= 0.01
    assert binom.cdf(k, n, share) > 0.01


@pytest.mark.parametrize("n", [44, 459, 5000])
def test_the_smallest_share_is_supported(n):
    share = smallest_share(n)
    assert order(n, share) >= 1
    assert order(n, 0.9 * share) == 0


@pytest.mark.parametrize("n", [44, 200])
def test_the_place_th_largest_is_exceeded_by_more_than_the_share_in_a_hundredth_of_draws(n):
    """With uniform scores the share above a limit is 1 - limit."""
    trials, share = 20_000, 0.1
    scores = np.sort(np.random.default_rng(0).random((trials, n)), axis=1)
    failed = int((1 - scores[:, -order(n, share)] > share).sum())
    assert failed <= binom.ppf(0.9999, trials, 0.01)
