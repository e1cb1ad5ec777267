"""Generated points set the least widths of bands: none of them is decided wrongly any more."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from itertools import pairwise
from typing import Any

import calibration_cases
import numpy as np
import pytest

from kmcompile.exits.candidates.samples import accepted_rows
from kmcompile.exits.statistical import control
from kmcompile.exits.statistical.bands import least_width
from kmcompile.exits.statistical.cascade_exit import CascadeExit, Misled, State
from kmcompile.exits.statistical.case import Case, Wish
from kmcompile.exits.statistical.control import with_exits
from kmcompile.exits.statistical.fits import fit_of
from kmcompile.exits.statistical.generated import challenge, generated_challenges
from kmcompile.exits.statistical.interval_link import IntervalLink
from kmcompile.exits.statistical.judge import Judge, Row
from kmcompile.exits.statistical.linear import linear_filter
from kmcompile.exits.statistical.links import FittedExit
from kmcompile.exits.statistical.nearest import nearest_vectors
from kmcompile.exits.statistical.ratio import undecided
from kmcompile.exits.statistical.risk import LEAST_SCALE, PATH, SCALES
from kmcompile.exits.statistical.samples import split
from kmcompile.exits.statistical.widening import MOST_COST, have_floors, widening_notes, with_floors
from kmcompile.numeric.arrays import Float32Array

CASES = [("rbf", 2), ("poly", 2), ("rbf", 10)]
SCALE, BELOW = SCALES[10], SCALES[-12]
"""About the scale that control samples would give, and one at which some generated points are
decided wrongly without floors."""


@dataclass(frozen=True, eq=False)
class Made:
    """A filter and nearest vectors on digits, without floors and with them."""

    case: Case
    links: tuple[CascadeExit[Any], ...]
    wide: tuple[CascadeExit[Any], ...]


@cache
def made(kernel: str, n_classes: int) -> Made:
    digits = calibration_cases.digits(kernel, n_classes)
    wish = Wish(0.01, "expected", split(len(digits.X), 0.01, "expected"))
    case = Case.of(digits.machine, digits.program, digits.samples, wish)
    stages = (
        linear_filter(digits.x, digits.samples.decisions, digits.relevant, digits.skip_zeros),
        nearest_vectors(digits.exact, (5, 12), np.array([8, 32]), digits.skip_zeros, np.inf),
    )
    links = tuple(digits.linked(stage) for stage in stages)
    return Made(case, links, with_floors(links, case, SCALE))


def points(case: Case, seed: int = 20010629) -> Float32Array:
    """Return the points that set floors, or others."""
    X = generated_challenges(case.machine, case.samples.X[case.taught], 500, seed)
    return np.ascontiguousarray(X[accepted_rows(case.program.prepare, X)])


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
@pytest.mark.parametrize("scale", [BELOW, LEAST_SCALE])
def test_programs_decide_no_point_wrongly_that_set_a_floor(
    kernel: str, n_classes: int, scale: float
) -> None:
    found = made(kernel, n_classes)
    X = points(found.case)
    narrow = with_exits(found.case, found.links, scale)
    wide = with_exits(found.case, found.wide, scale)
    assert challenge(narrow, found.case.machine, X).disagreements > 0
    assert challenge(wide, found.case.machine, X).disagreements == 0


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_other_points_are_decided_wrongly_less_often(kernel: str, n_classes: int) -> None:
    found = made(kernel, n_classes)
    X = points(found.case, seed=1)
    narrow = with_exits(found.case, found.links, LEAST_SCALE)
    wide = with_exits(found.case, found.wide, LEAST_SCALE)
    before = challenge(narrow, found.case.machine, X).disagreements
    assert challenge(wide, found.case.machine, X).disagreements < 0.3 * before


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_bands_are_never_narrower_and_the_same_where_the_scale_sets_them(
    kernel: str, n_classes: int
) -> None:
    found = made(kernel, n_classes)
    for old, new in zip(found.links, found.wide, strict=True):
        for before, after in zip(old.bands, new.bands, strict=True):
            widths = [after.half_width(scale) for scale in PATH]
            assert all((a >= b).all() for a, b in pairwise(widths))
            for scale, width in zip(PATH, widths, strict=True):
                assert (width >= before.half_width(scale)).all()
                free = after.floor == 0
                assert np.array_equal(width[free], before.half_width(scale)[free])
            assert np.array_equal(after.half_width(1e3), before.half_width(1e3))


def test_floors_are_not_wider_than_the_bands_at_the_expected_scale() -> None:
    found = made("rbf", 2)
    for each in with_floors(found.links, found.case, BELOW):
        for band in each.bands:
            assert (band.floor <= BELOW * band.reach * band.deviation * (1 + 1e-12)).all()
    assert have_floors(with_floors(found.links, found.case, BELOW))
    assert not have_floors(with_floors(found.links, found.case, LEAST_SCALE))


def test_no_points_are_generated_where_none_are_asked_for() -> None:
    found = made("rbf", 2)
    case = replace(found.case, wish=replace(found.case.wish, n_generated=0))
    assert with_floors(found.links, case, SCALE) is found.links


def test_below_the_least_scale_only_floors_shrink() -> None:
    found = made("rbf", 2)
    for each in found.wide:
        for band in each.bands:
            least = LEAST_SCALE * (band.reach * band.deviation)
            width = band.half_width(PATH[-1])
            assert np.array_equal(width, np.maximum(least, PATH[-1] / LEAST_SCALE * band.floor))
    assert PATH[: len(SCALES)] == SCALES
    assert all(a > b for a, b in pairwise(PATH))


def test_control_samples_set_no_floor() -> None:
    found = made("rbf", 2)
    X = found.case.samples.X.copy()
    X[found.case.parts.control.rows] = 0.0
    case = replace(found.case, samples=replace(found.case.samples, X=X))
    again = with_floors(found.links, case, SCALE)
    for one, other in zip(found.wide, again, strict=True):
        for band, same in zip(one.bands, other.bands, strict=True):
            assert np.array_equal(band.floor, same.floor)


def test_floors_are_told_where_they_set_a_width() -> None:
    found = made("rbf", 2)
    assert have_floors(found.wide)
    assert not have_floors(found.links)
    assert widening_notes(found.links, LEAST_SCALE) == []
    assert widening_notes(found.wide, 1e3) == []
    (note,) = widening_notes(found.wide, LEAST_SCALE)
    assert "linear_filter and nearest_vectors" in note


def test_without_points_there_are_no_floors() -> None:
    found = made("rbf", 2)
    X = np.ascontiguousarray(np.repeat(found.case.samples.X[:1], len(found.case.x), axis=0))
    case = replace(found.case, samples=replace(found.case.samples, X=X))
    assert with_floors(found.links, case, SCALE) is found.links


def test_least_width_lies_beyond_every_size_or_is_needless() -> None:
    assert 2.0 < least_width(np.array([0.5, 2.0]), 1.0, most=10.0) < 2.01
    assert least_width(np.array([0.5, 2.0]), 0.5, most=3.0) == 1.5
    assert least_width(np.array([0.5 * LEAST_SCALE]), 1.0, most=10.0) == 0.0
    assert least_width(np.zeros(0), 1.0, most=10.0) == 0.0
    assert least_width(np.array([3.0]), np.inf, most=10.0) == 0.0


def test_ratio_has_a_floor_beyond_which_no_point_flips() -> None:
    stage = undecided(1)
    fit = fit_of(stage)
    digits = calibration_cases.digits("rbf", 2)
    estimates = fit.estimates(stage, digits.program.ends, digits.x[:4])
    least = np.array([[-1.0], [-1.0], [-8.0], [-1.0]], np.float32)
    most = np.array([[6.0], [9.0], [1.0], [30.0]], np.float32)
    state = State(None, np.ones(4), least, most)
    decisions = np.array([[-1.0], [-1.0], [-1.0], [-1.0]])
    counts = np.array([[True], [True], [True], [False]])
    link = IntervalLink(FittedExit(stage, estimates, "interval_ratio"), 1.0)
    wide = link.with_floor(estimates, state, Misled(decisions, counts, 10.0))
    label = digits.program.ends.label
    trial, _ = wide.trial(estimates, state, label, np.array(PATH))
    before, _ = link.trial(estimates, state, label, np.array(PATH))
    # The first two flip; the fourth does not count, and the third is on the right side.
    assert (before.scales[0, :3] >= LEAST_SCALE).all()
    assert (trial.scales[0, :2] < LEAST_SCALE).all()
    assert trial.scales[0, 3] >= LEAST_SCALE
    assert wide.is_widened(LEAST_SCALE)
    assert not wide.is_widened(10.0)
    assert wide.finished(1, LEAST_SCALE).share > link.finished(1, LEAST_SCALE).share


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_floors_hardly_cost_more_than_bands_without_them(kernel: str, n_classes: int) -> None:
    found = made(kernel, n_classes)
    case, room = found.case, calibration_cases.digits(kernel, n_classes).room
    judge = Judge(case.choice_samples(), case.ends, case.n_always, room, 0.0)
    items = tuple(
        FittedExit(each.stage, each.results_on(case.seen(case.parts.choice), case.ends), each.text)
        for each in found.links
    )
    row = Row(items, found.links, 0.0, 0.0, SCALE)
    plain, _ = control._control(row.links, case, SCALES)
    wide, promise = control._with_promise(row, case, judge)
    cost = judge.cost(replace(wide, scale=promise.scale))
    if promise.scale < LEAST_SCALE:
        assert cost <= (1 + MOST_COST) * judge.cost(replace(row, scale=plain.scale))
    found_again, counts = control._control(wide.links, case, PATH)
    assert promise.scale >= found_again.scale
    disagreements = counts(promise.scale).disagreements
    assert promise.disagreements == disagreements <= found_again.disagreements
