"""Probabilities: within their bound of the exact ones for all decisions within theirs."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpf

from kit import calibrated
from kmcompile.errors import InputError
from kmcompile.lower.probability import lower_probability
from kmcompile.program.stages.labels.probability import LEAST_TOTAL

MACHINES = {name: calibrated.read(name) for name in ("rbf", "iris", "digits")}
RNG = np.random.default_rng(6)


def stage_of(name: str, threshold: float = 0.0):
    return lower_probability(replace(MACHINES[name], threshold=threshold))


def exact(decisions, threshold: float, slope: float = 1.0, offset: float = 0.0) -> list:
    """Return the probabilities of real decisions."""
    odds = [mpf(slope) * (mpf(f) + mpf(threshold)) + mpf(offset) for f in decisions]
    each = [1 / (1 + mp.exp(-f)) for f in odds]
    return [1 - each[0], each[0]] if len(each) == 1 else [p / mp.fsum(each) for p in each]


def decisions_and_bounds(n_decisions: int) -> tuple[np.ndarray, np.ndarray]:
    """Return decisions of every size with bounds of every size."""
    n = 150
    scales = np.tile([0.1, 3.0, 30.0, 80.0, 1e4], n // 5)[:, None]
    f = (RNG.normal(size=(n, n_decisions)) * scales).astype(np.float32)
    f[:10] = np.linspace(-95, -20, 10)[:, None]  # all of them unlikely
    f[10:12] = 0.0
    bounds = 10.0 ** RNG.uniform(-7, 1.5, (n, n_decisions))
    bounds[::3] *= np.abs(f[::3])  # as large as what they are of
    return f, bounds.astype(np.float32)


@pytest.mark.parametrize("threshold", [0.0, -1.3862943611198906, 1e-40, 37.125, -4e5])
def test_two_classes_are_within_their_bound(threshold):
    f, bounds = decisions_and_bounds(1)
    check("rbf", f - np.float32(threshold), bounds, threshold)


@pytest.mark.parametrize("name", ["iris", "digits"])
def test_many_classes_are_within_their_bound(name):
    check(name, *decisions_and_bounds(MACHINES[name].n_classes), 0.0)


SIGMOIDS = [(1.4, -0.2), (-3.5, 40.0), (2e4, -1e5), (3e-7, 1.0), (0.0, -0.7), (1.0, 0.0)]


@pytest.mark.parametrize("platt", SIGMOIDS)
@pytest.mark.parametrize("threshold", [0.0, -1.3862943611198906])
def test_platts_sigmoid_is_within_its_bound(platt, threshold):
    f, bounds = decisions_and_bounds(1)
    slope, offset = platt
    if slope:
        f, bounds = (f - offset) / slope, bounds / abs(slope)
    f, bounds = (f - threshold).astype(np.float32), bounds.astype(np.float32)
    check("rbf", f, bounds, threshold, platt)


def test_a_bound_of_infinite_log_odds_tells_nothing():
    f = np.full((2, 1), 2.0**119, np.float32)
    bounds = np.float32([[2.0**119], [1.0]])
    machine = replace(MACHINES["rbf"], log_odds=False, platt=(2.0**20, 0.0))
    probabilities, limits = lower_probability(machine).of(f, bounds)
    assert (probabilities[:, 1] == 1).all()
    assert limits[0] == 1
    assert limits[1] < 1e-5


def check(name: str, f: np.ndarray, bounds: np.ndarray, threshold: float, platt=None) -> None:
    """Check each query at the ends of all intervals and inside."""
    machine = replace(MACHINES[name], threshold=threshold)
    if platt is not None:
        machine = replace(machine, log_odds=False, platt=platt)
    probabilities, limits = lower_probability(machine).of(f, bounds)
    assert probabilities.min() >= 0.0
    assert probabilities.max() <= 1.0
    assert limits.max() <= 1.0
    places = [np.zeros(f.shape[1]), np.ones(f.shape[1]), -np.ones(f.shape[1])]
    places += [RNG.choice([-1.0, 1.0], f.shape[1]) for _ in range(3)]
    with mp.workdps(60):
        for own, limit, decisions, widths in zip(probabilities, limits, f, bounds, strict=True):
            for place in places:
                pairs = zip(decisions, widths, place, strict=True)
                moved = [mpf(float(d)) + mpf(float(w)) * mpf(s) for d, w, s in pairs]
                told = exact(moved, threshold, *(platt or (1.0, 0.0)))
                error = max(abs(mpf(float(p)) - q) for p, q in zip(own, told, strict=True))
                assert error <= mpf(float(limit)), (decisions, widths, place)


def test_a_narrow_bound_costs_little_more_than_the_rounding():
    for name in MACHINES:
        n = MACHINES[name].n_decisions
        f = RNG.normal(size=(50, n)).astype(np.float32)
        _, limits = stage_of(name).of(f, np.full_like(f, 1e-9))
        assert limits.max() < (2 * n + 12) * 2.0**-24


def test_far_from_the_boundary_a_wide_bound_says_more_than_its_size():
    _, limits = stage_of("rbf").of(np.float32([[20.0]]), np.float32([[8.0]]))
    assert limits[0] < 1e-5  # a class with exp(-12) at most


def test_two_classes_never_decrease_with_the_decision():
    f = np.sort(RNG.normal(size=20000) * 30).astype(np.float32)[:, None]
    probabilities, _ = stage_of("rbf", 0.5).of(f, np.zeros_like(f))
    assert np.diff(probabilities[:, 1]).min() >= 0
    assert np.diff(probabilities[:, 0]).max() <= 0


def test_where_float_has_lost_the_ratios_all_classes_have_the_same():
    f = np.full((2, 3), -200.0, dtype=np.float32)
    f[1] = np.log(LEAST_TOTAL)  # the sum is three times the least one
    probabilities, limits = stage_of("iris").of(f, np.full_like(f, 1e-6))
    np.testing.assert_array_equal(probabilities[0], np.float32(1) / np.float32(3))
    assert limits[0] == 1.0
    assert limits[1] < 1e-5


def test_only_calibrated_machines_have_probabilities():
    assert lower_probability(replace(MACHINES["rbf"], log_odds=False)) is None
    with pytest.raises(InputError, match="threshold is 1e\\+40"):
        stage_of("rbf", 1e40)


@pytest.mark.parametrize("name", MACHINES)
def test_a_bound_that_is_no_number_tells_nothing(name):
    n = MACHINES[name].n_decisions
    bounds = np.full((n, n), 1e-3, np.float32)
    np.fill_diagonal(bounds, np.nan)
    _, limits = stage_of(name).of(np.ones((n, n), np.float32), bounds)
    assert (limits == 1.0).all()
