"""A promised risk is kept as often as the promise says."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import binom

from kmcompile.exits.statistical.binomial import (
    clopper_pearson_lower,
    clopper_pearson_upper,
    confidence_at,
)
from kmcompile.exits.statistical.risk import (
    SCALES,
    Tally,
    conformal,
    decide_nothing,
    fixed_sequence,
    least_risk,
    rounded_up,
    samples_needed,
)

REPETITIONS = 2000
SURE = 1e-6
"""Probability with which a right implementation may fail one of the simulations."""


def risk_at(scale: float) -> float:
    """Return the true risk of the simulated thresholds: one in 20 at scale 1."""
    return 0.05 * math.exp(-2.0 * (scale - 1.0))


RISKS = np.array([risk_at(scale) for scale in SCALES])


def wrong_of(losses: np.ndarray) -> Callable[[float], np.ndarray]:
    """Return which samples a scale makes decide wrongly.

    losses : ndarray of shape (n,), uniform; a sample goes wrong where the risk exceeds its own.
    """
    return lambda scale: losses < risk_at(scale)


def some(n: int, n_wrong: int) -> np.ndarray:
    """Return that so many of n samples are wrong."""
    return np.arange(n) < n_wrong


def count(wrong: np.ndarray) -> Tally:
    """Return that every sample counts."""
    return Tally(len(wrong), int(wrong.sum()))


@pytest.mark.parametrize(("disagreements", "needed"), [(0, 4603), (1, 6636)])
def test_a_thousandth_at_99_percent_needs(disagreements: int, needed: int) -> None:
    assert samples_needed(1e-3, disagreements=disagreements) == needed
    assert clopper_pearson_upper(disagreements, needed) <= 1e-3
    assert clopper_pearson_upper(disagreements, needed - 1) > 1e-3


@pytest.mark.parametrize("n", [1, 10, 300, 4603, 10**6])
def test_least_risk_is_the_closed_form(n: int) -> None:
    closed = -math.expm1(math.log1p(-0.99) / n)
    # The inverse of the distribution function is solved to a few hundred units in the last place.
    assert abs(least_risk(n) - closed) <= 2.0**-43 * closed


@pytest.mark.parametrize(("disagreements", "n"), [(0, 50), (3, 50), (50, 50), (1, 10_000)])
def test_limits_are_where_the_binomial_tail_is_one_minus_the_confidence(
    disagreements: int, n: int
) -> None:
    upper, lower = (
        f(disagreements, n, 0.95) for f in (clopper_pearson_upper, clopper_pearson_lower)
    )
    assert 0 <= lower < upper <= 1
    # One unit in the last place of the limit moves the tail by at most n of them.
    slack = n * 2.0**-40
    if upper < 1:
        assert abs(binom.cdf(disagreements, n, upper) - 0.05) <= slack
    if lower > 0:
        assert abs(binom.sf(disagreements - 1, n, lower) - 0.05) <= slack


@pytest.mark.parametrize("n", [1, 7, 999, 1000, 123_457])
def test_expected_risk_needs_one_more_than_its_inverse(n: int) -> None:
    assert samples_needed(least_risk(n, "expected"), "expected") == n


@pytest.mark.parametrize("value", [0.003065, 0.0031, 0.99999, 1e-7, 0.2])
def test_rounding_up_is_never_down_and_less_than_a_tenth_up(value: float) -> None:
    up = rounded_up(value)
    assert value <= up < value * 1.1
    assert float(f"{up:.1e}") == up


def test_scales_fall_by_one_factor_from_10_to_below_a_quarter() -> None:
    ratios = np.divide(SCALES[:-1], SCALES[1:])
    assert SCALES[0] == 10.0
    assert SCALES[-1] < 0.25 < SCALES[-2]
    # Two powers and three divisions, an ulp and half of one each.
    assert np.allclose(ratios, 1.1, rtol=2.0**-50, atol=0)


def test_fixed_sequence_stops_at_the_first_failure_and_looks_no_further() -> None:
    asked: list[float] = []

    def wrong(scale: float) -> np.ndarray:
        asked.append(scale)
        return some(1000, {5.0: 0, 4.0: 1, 3.0: 2, 2.0: 30, 1.0: 0}[scale])

    promise = fixed_sequence([5.0, 4.0, 3.0, 2.0, 1.0], wrong, count, 0.01)
    assert asked == [5.0, 4.0, 3.0, 2.0]
    assert promise is not None
    assert (promise.control, promise.requested, promise.upper_bound) == ("guaranteed", 0.01, 0.01)
    # One step wider than the last scale that holds.
    assert (promise.scale, promise.disagreements, promise.confidence) == (4.0, 1, 0.99)


def test_fixed_sequence_takes_the_first_scale_if_only_that_one_holds() -> None:
    wrong = {2.0: some(1000, 0), 1.0: some(1000, 30)}
    promise = fixed_sequence([2.0, 1.0], wrong.__getitem__, count, 0.01)
    assert promise is not None
    assert promise.scale == 2.0


def rows(first: int, last: int) -> np.ndarray:
    """Return that samples `first` to `last` of 999 are wrong."""
    return (np.arange(999) >= first) & (np.arange(999) < last)


def test_conformal_holds_a_sample_against_all_smaller_scales() -> None:
    wrong = {4.0: rows(0, 9), 3.0: rows(3, 6), 2.0: rows(0, 1), 1.0: rows(0, 10)}
    promise = conformal([4.0, 3.0, 2.0, 1.0], wrong.__getitem__, count, 0.01)
    assert promise is not None
    assert (promise.scale, promise.disagreements) == (3.0, 3)
    assert (promise.control, promise.confidence) == ("expected", None)
    assert conformal([4.0, 3.0], lambda scale: rows(0, 10), count, 0.01) is None


def test_conformal_counts_samples_that_different_scales_get_wrong_together() -> None:
    wrong = {4.0: rows(0, 4), 3.0: rows(4, 9), 2.0: rows(9, 11)}
    promise = conformal([4.0, 3.0, 2.0], wrong.__getitem__, count, 0.01)
    assert promise is not None
    assert (promise.scale, promise.disagreements) == (4.0, 4)


def test_too_few_samples_support_no_scale_and_nothing_is_decided() -> None:
    n = samples_needed(0.01) - 1
    assert fixed_sequence(SCALES, lambda scale: some(n, 0), count, 0.01) is None
    assert fixed_sequence(SCALES, lambda scale: some(n + 1, 0), count, 0.01) is not None
    assert decide_nothing("guaranteed", 0.01, Tally(n, 0)).scale == math.inf


@pytest.mark.exhaustive
@pytest.mark.parametrize("confidence", [0.9, 0.99])
def test_guaranteed_risk_is_broken_no_more_often_than_promised(confidence: float) -> None:
    """Each scale stands twice, so that the promise is that of the last scale that holds."""
    rng = np.random.default_rng(31)
    n, risk, broken = 500, 0.02, 0
    twice = tuple(np.repeat(SCALES, 2))
    for _ in range(REPETITIONS):
        promise = fixed_sequence(twice, wrong_of(rng.random(n)), count, risk, confidence)
        assert promise is not None
        broken += risk_at(promise.scale) > risk
    assert 0 < broken <= binom.isf(SURE, REPETITIONS, 1 - confidence)


@pytest.mark.exhaustive
@pytest.mark.parametrize("doubts", [(1 / 6, 1 / 6, 1 / 6, 1 / 2), (1 / 2, 1 / 2)])
def test_promises_that_share_the_doubt_hold_together(doubts: tuple[float, ...]) -> None:
    """Whichever program is taken, be it the one that breaks its promise."""
    rng = np.random.default_rng(37)
    n, risk, broken = 500, 0.02, 0
    twice = tuple(np.repeat(SCALES, 2))
    for _ in range(REPETITIONS):
        promises = [
            fixed_sequence(twice, wrong_of(rng.random(n)), count, risk, confidence_at(doubt))
            for doubt in doubts
        ]
        broken += any(made is not None and risk_at(made.scale) > risk for made in promises)
    assert broken <= binom.isf(SURE, REPETITIONS, 0.01)


@pytest.mark.exhaustive
def test_guaranteed_risk_is_kept_where_it_does_not_fall_with_the_scale() -> None:
    """Disagreements of different scales are independent here: the worst case for a sequence."""
    rng = np.random.default_rng(32)
    n, risk, broken = 500, 0.02, 0
    for _ in range(REPETITIONS):
        promise = fixed_sequence(SCALES, lambda s: rng.random(n) < risk_at(s), count, risk, 0.9)
        broken += promise is not None and risk_at(promise.scale) > risk
    assert broken <= binom.isf(SURE, REPETITIONS, 0.1)


def test_expected_risk_is_kept_in_the_mean() -> None:
    rng = np.random.default_rng(33)
    n, risk = 200, 0.02
    kept = []
    for _ in range(REPETITIONS):
        promise = conformal(SCALES, wrong_of(rng.random(n)), count, risk)
        assert promise is not None
        kept.append(risk_at(promise.scale))
    # Hoeffding: the mean of values within [0, largest] is this far above its expectation with
    # probability SURE at most.
    slack = max(kept) * math.sqrt(math.log(1 / SURE) / (2 * REPETITIONS))
    assert np.mean(kept) <= risk + slack
    # The theorem's other side: not below risk - 2 / (n + 1), up to one step of the grid.
    step = np.max(RISKS[1:] / RISKS[:-1])
    assert np.mean(kept) >= (risk - 2 / (n + 1)) / step - slack
