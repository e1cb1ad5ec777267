"""A stage is fitted to what came before it, and hands on what comes after it needs."""

from __future__ import annotations

import numpy as np
from calibration_cases import Case, digits

from kmcompile.exits.statistical.bands import LARGEST_SPREAD, LEAST_SPREAD, near_boundary
from kmcompile.exits.statistical.cascade_exit import State
from kmcompile.exits.statistical.fit_points import of_samples
from kmcompile.exits.statistical.free_vectors_fit import Size
from kmcompile.exits.statistical.linear import linear_filter
from kmcompile.exits.statistical.links import Link
from kmcompile.exits.statistical.nearest import nearest_vectors
from kmcompile.exits.statistical.reduced_set import fit_reduced_set
from kmcompile.exits.statistical.risk import SCALES
from kmcompile.program.stages import LinearFilter, NearestVectors, ReducedSet

CASE = ("rbf", 2)


def filter_of(case: Case) -> LinearFilter:
    return linear_filter(case.x, case.samples.decisions, case.relevant, case.skip_zeros)


def reduced_of(case: Case, n_vectors: int = 20) -> ReducedSet:
    points = of_samples(case.exact, case.x, case.samples.decisions, case.relevant)
    size = Size(5, n_vectors, None, iterations=15)
    return fit_reduced_set(points, size, 1.0, case.exact.lanes, case.skip_zeros)


def nearest_of(case: Case) -> NearestVectors:
    steps = np.array([8, 32])
    return nearest_vectors(case.exact, (5, 12), steps, case.skip_zeros, np.inf)


def start(case: Case) -> State:
    return case.begin


def after(made: Link, before: State) -> State:
    return made.follow(made.fitted.estimates, before)[1]


def near_error(case: Case, made: Link, before: State) -> float:
    """Return the squared error of the first test near the boundary."""
    f = case.samples.decisions
    estimate = made.follow(made.fitted.estimates, before)[0][0]
    near = near_boundary(f[:, 0], case.relevant[:, 0])
    return float(((f - estimate)[near, 0] ** 2).sum())


def test_reduced_set_hands_on_its_decisions_and_a_limited_spread() -> None:
    case = digits(*CASE)
    made = case.linked(reduced_of(case))
    decisions, state = made.follow(made.fitted.estimates, start(case))
    assert state.earlier is decisions[-1]
    assert (state.spread >= LEAST_SPREAD).all()
    assert (state.spread <= LARGEST_SPREAD).all()


def test_filter_and_nearest_vectors_hand_on_what_they_got() -> None:
    case = digits(*CASE)
    state = after(case.linked(reduced_of(case)), start(case))
    for stage in (filter_of(case), nearest_of(case)):
        assert after(case.linked(stage, state), state) is state


def test_filter_makes_no_use_of_an_earlier_estimate() -> None:
    case = digits(*CASE)
    state = after(case.linked(reduced_of(case)), start(case))
    made = case.linked(filter_of(case), state)
    assert (made.bands[0].earlier == 0).all()
    assert (made.bands[0].own == 1).all()


def test_earlier_estimate_makes_the_next_one_no_worse() -> None:
    case = digits(*CASE)
    state = after(case.linked(reduced_of(case)), start(case))
    for stage in (reduced_of(case, 40), nearest_of(case)):
        alone, following = case.linked(stage), case.linked(stage, state)
        assert near_error(case, following, state) <= near_error(case, alone, start(case))


def test_bands_reach_less_far_after_touched_vectors_unless_the_samples_ask_for_it() -> None:
    case = digits(*CASE)
    made = case.linked(nearest_of(case))
    least = [2.0, 2.0, 1.5, 1.5]
    assert all((b.reach >= r).all() for b, r in zip(made.bands, least, strict=True))
    assert (case.linked(filter_of(case)).bands[0].reach >= 2.7).all()


def test_wider_link_changes_the_tests_after_touched_vectors_only_and_decides_less() -> None:
    case = digits(*CASE)
    made = case.linked(nearest_of(case))
    wide = made.wider(1.5)
    for old, new, n in zip(made.bands, wide.bands, (0, 0, 8, 32), strict=True):
        assert np.array_equal(new.reach, old.reach * (1.5 if n else 1.0))
        assert np.array_equal(new.deviation, old.deviation)
    label = case.program.ends.label
    trials = [
        link.trial(made.fitted.estimates, start(case), label, np.array(SCALES))[0]
        for link in (made, wide)
    ]
    assert np.array_equal(trials[0].scales[:2], trials[1].scales[:2])
    assert (trials[1].scales[2:] <= trials[0].scales[2:]).all()
    assert (trials[1].scales[2:] < trials[0].scales[2:]).any()
