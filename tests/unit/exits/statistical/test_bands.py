"""The band of a test decides no sample near the boundary wrongly at a scale of 1."""

from __future__ import annotations

import numpy as np
import pytest
from calibration_cases import Case, digits

from kmcompile.exits.statistical.bands import (
    LARGEST_SPREAD,
    LEAST_SPREAD,
    Bands,
    fit_bands,
    fit_spread,
    limited,
    near_boundary,
)
from kmcompile.exits.statistical.linear import linear_filter
from kmcompile.exits.statistical.nearest import nearest_vectors

CASES = [("rbf", 2), ("poly", 2), ("rbf", 10)]
LEAST_REACH = 0.5
U = 2.0**-52


def values_of(case: Case) -> np.ndarray:
    stage = linear_filter(case.x, case.samples.decisions, case.relevant, case.skip_zeros)
    return case.fitted(stage).estimates.values[0]


def better_values_of(case: Case) -> np.ndarray:
    none = np.zeros(0, np.int64)
    stage = nearest_vectors(case.exact, (12,), none, case.skip_zeros, np.inf)
    return case.fitted(stage).estimates.values[0]


def fitted(case: Case, *, follows: bool) -> tuple[Bands, np.ndarray, np.ndarray]:
    """Return the bands of a projected sum, its estimates and the spread that was used."""
    earlier = values_of(case).astype(np.float64) if follows else None
    spread = np.random.default_rng(1).uniform(LEAST_SPREAD, LARGEST_SPREAD, size=len(case.X))
    values = better_values_of(case)
    f = case.samples.decisions
    bands = fit_bands(values, earlier, spread, f, case.relevant, LEAST_REACH)
    return bands, bands.estimate(values, np.zeros_like(f) if earlier is None else earlier), spread


@pytest.mark.parametrize("follows", [False, True])
@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_nothing_near_is_decided_wrongly_at_a_scale_of_1(
    kernel: str, n_classes: int, follows: bool
) -> None:
    case = digits(kernel, n_classes)
    bands, estimate, spread = fitted(case, follows=follows)
    f = case.samples.decisions
    assert (bands.reach >= LEAST_REACH).all()
    for p in range(f.shape[1]):
        near = near_boundary(f[:, p], case.relevant[:, p])
        wrong = near[estimate[near, p] * f[near, p] < 0]
        # Reach and estimate are computed in another order: a few units of the largest term.
        slack = 64 * U * np.abs(f[near, p]).max()
        width = bands.half_width(1.0)[p] * spread[wrong]
        assert (np.abs(estimate[wrong, p]) <= width + slack).all()


def test_without_an_earlier_estimate_only_the_mean_error_is_taken_off() -> None:
    case = digits("rbf", 2)
    bands, estimate, spread = fitted(case, follows=False)
    assert (bands.own == 1).all()
    assert (bands.earlier == 0).all()
    f = case.samples.decisions[:, 0]
    near = near_boundary(f, case.relevant[:, 0])
    error = f[near] - estimate[near, 0]
    slack = 64 * U * np.abs(f[near]).max()
    assert abs(error.mean()) <= slack
    assert abs((error / spread[near]).std() - bands.deviation[0]) <= slack


def test_shares_of_an_earlier_estimate_leave_the_least_squared_error() -> None:
    case = digits("rbf", 2)
    values, earlier = better_values_of(case), values_of(case).astype(np.float64)
    bands, estimate, _ = fitted(case, follows=True)
    f = case.samples.decisions[:, 0]
    near = near_boundary(f, case.relevant[:, 0])
    least = ((f - estimate[:, 0])[near] ** 2).sum()
    own, before, constant = (part[0] for part in (bands.own, bands.earlier, bands.constant))
    for step in np.concatenate([np.eye(3), -np.eye(3)]) * 1e-3:
        other = (own + step[0]) * values + (before + step[1]) * earlier + constant + step[2]
        assert ((f - other[:, 0])[near] ** 2).sum() >= least


def test_estimate_without_error_keeps_a_band() -> None:
    f = digits("rbf", 2).samples.decisions
    relevant = np.ones_like(f, dtype=bool)
    bands = fit_bands(f.astype(np.float32), None, np.ones(len(f)), f, relevant, LEAST_REACH)
    assert (bands.half_width(1.0) > 0).all()


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_near_are_those_inside_the_margin_or_the_nearest_fifty(kernel: str, n_classes: int) -> None:
    case = digits(kernel, n_classes)
    for p, f in enumerate(case.samples.decisions.T):
        rows = np.flatnonzero(case.relevant[:, p])
        inside = rows[np.abs(f[rows]) <= 1]
        nearest = rows[np.argsort(np.abs(f[rows]), kind="stable")[:50]]
        expected = inside if len(inside) >= 50 else nearest
        assert np.array_equal(near_boundary(f, case.relevant[:, p]), np.sort(expected))


def test_spread_follows_the_size_of_the_error_or_is_even() -> None:
    case = digits("rbf", 2)
    f, relevant = case.samples.decisions, case.relevant
    rng = np.random.default_rng(3)
    raw = rng.uniform(1, 2, size=len(f)).astype(np.float32)
    error = rng.normal(size=f.shape) * raw[:, None].astype(np.float64)
    near = near_boundary(f[:, 0], relevant[:, 0])
    first, second = fit_spread(raw, error, f, relevant)
    assert second > 0
    # Least squares go through the means, and sizes are relative to theirs.
    assert abs(first + second * raw[near].astype(np.float64).mean() - 1) <= 2.0**-40
    assert fit_spread(raw, error / raw[:, None].astype(np.float64) ** 3, f, relevant) == (1.0, 0.0)


def test_spread_stays_within_its_limits() -> None:
    spread = limited(np.array([-1.0, 0.0, 1.0, 100.0]))
    assert spread.tolist() == [LEAST_SPREAD, LEAST_SPREAD, 1.0, LARGEST_SPREAD]
