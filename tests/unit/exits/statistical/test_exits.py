"""What calibration sees of a stage is what the interpreter does with it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from calibration_cases import Case, digits, mnist_pair

from kmcompile.exits.statistical.bands import LARGEST_SPREAD, LEAST_SPREAD
from kmcompile.exits.statistical.class_scores import Lessons, fit_class_scores
from kmcompile.exits.statistical.class_scores_fit import ClassScoresFit
from kmcompile.exits.statistical.fit_points import of_samples
from kmcompile.exits.statistical.fits import estimates_of, fit_of, statistical_fits
from kmcompile.exits.statistical.free_vectors_fit import Size
from kmcompile.exits.statistical.linear import linear_filter
from kmcompile.exits.statistical.links import Link
from kmcompile.exits.statistical.nearest import nearest_vectors
from kmcompile.exits.statistical.ratio import undecided
from kmcompile.exits.statistical.reduced_set import fit_reduced_set
from kmcompile.exits.statistical.risk import SCALES
from kmcompile.exits.statistical.trial import in_a_row, said
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import classify, interpret
from kmcompile.program.stages import (
    ClassScores,
    EarlyExit,
    IntervalRatio,
    LinearFilter,
    NearestVectors,
    ReducedSet,
)
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.input.range_gate import sum_of_squares

CASES = [("rbf", 2), ("poly", 2), ("sigmoid", 2), ("rbf", 10)]
BANDED = ["linear_filter", "reduced_set", "nearest_vectors", "columns"]
"""Exits with bands of decisions. What tests leads or intervals has links and tests of its own:
test_class_scores.py, test_interval_link.py."""
KINDS = [*BANDED, "paper", "class_scores", "interval_ratio"]


@cache
def stage_of(kernel: str, n_classes: int, kind: str) -> EarlyExit:
    """Return a stage fitted to all of a case's samples."""
    case = digits(kernel, n_classes)
    f, skip_zeros = case.samples.decisions, case.skip_zeros
    if kind == "linear_filter":
        return linear_filter(case.x, f, case.relevant, skip_zeros)
    if kind in ("reduced_set", "columns"):
        points = of_samples(case.exact, case.x, f, case.relevant)
        size = Size(5, 20, 16 if kind == "columns" else None, iterations=10)
        return fit_reduced_set(points, size, 1.0, case.exact.lanes, skip_zeros)
    if kind == "class_scores":
        labels = said(case.program.ends.label, f)
        lessons = Lessons.of(case.x.astype(np.float64), labels, f, case.relevant, n_classes)
        return fit_class_scores(lessons, Size(5, 20, None, 10), case.exact.lanes, skip_zeros)
    if kind == "interval_ratio":
        return undecided(case.program.n_decisions)
    paper = kind == "paper"
    levels = (12,) if paper else (5, 12)
    steps = np.array([3, 30, 90])
    return nearest_vectors(case.exact, levels, steps, skip_zeros, np.inf, paper=paper)


def allowed(case: Case, stage: EarlyExit) -> np.ndarray:
    """Return how far the estimates may be off, shape (n, n_decisions).

    Filters and reduced sets run the stage's own sums. For nearest vectors a sum of approximate
    kernels, one of kernels and their difference are compared, each with no more roundings than
    the exact sum, whose certified bound holds for the program and for the matrix product.
    """
    if not isinstance(stage, NearestVectors):
        return np.zeros_like(case.errors)
    return 4 * case.errors


def unfinished() -> np.errstate:
    """Return the context of an unfinished stage: its spread has no limits, its band overflows.

    A finished one may not: `test_finished_stage_decides_nothing_at_an_infinite_scale`.
    """
    return np.errstate(over="ignore")


def seen_by(stage: EarlyExit, case: Case) -> tuple[np.ndarray, np.ndarray, Batch]:
    """Return each test's decisions as the label gets them, what was spent, and the answers."""
    seen: list[tuple[Float32Array, np.ndarray]] = []

    class Label:
        def run(self, batch: Batch) -> Batch:
            seen.append((batch.decision.copy(), batch.operations.copy()))
            return case.program.ends.label.run(batch)

        def operations(self) -> int:
            return case.program.ends.label.operations()

    ends = Ends(case.exact, Label())  # type: ignore[arg-type]
    batch = Batch.of(case.x, case.program.n_decisions)
    square = (case.x.astype(np.float64) ** 2).sum(axis=1).astype(np.float32)
    with unfinished():
        answered, _ = stage.decide(replace(batch, square=square), ends)
    if not seen:  # the stage has a test of its own
        return np.zeros(0), np.zeros(0), answered
    decisions, spent = (np.stack(one) for one in zip(*seen, strict=True))
    return decisions, spent, answered


def test_every_statistical_exit_is_among_the_kinds() -> None:
    fits = statistical_fits()
    assert {fit.kind.template for fit in fits} <= set(KINDS)
    others = {fit.kind.template for fit in fits if fit.tests_leads or fit.reads_intervals}
    assert {fit.kind.template for fit in fits} - others <= set(BANDED)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_estimates_and_operations_are_those_of_the_running_stage(
    kernel: str, n_classes: int, kind: str
) -> None:
    if kind == "paper" and n_classes > 2:
        pytest.skip("the paper's scheme is for two classes")
    case = digits(kernel, n_classes)
    if kind == "class_scores" and ClassScoresFit().why_not(case.program.ends):
        pytest.skip("there are no more decisions than classes")
    stage = stage_of(kernel, n_classes, kind)
    estimates = estimates_of(stage, case.program.ends, case.x)
    decisions, spent, answered = seen_by(stage, case)
    if isinstance(stage, ClassScores):
        assert np.array_equal(estimates.values[0].argmax(axis=1), answered.label)
    else:
        assert (np.abs(estimates.values - decisions) <= allowed(case, stage)).all()
    if isinstance(stage, NearestVectors):  # what it has spent when it asks, the label's on top
        assert np.array_equal(estimates.operations, spent)
        assert np.array_equal(estimates.kernel_evals, stage.steps)
    elif isinstance(stage, IntervalRatio):  # a program has one behind certified exits only
        assert np.array_equal(estimates.operations[0], answered.operations)
    else:
        program = case.with_stages(stage)
        at = [type(s) for s in program.stages].index(type(stage))
        with unfinished():
            counted = interpret(program, case.X).stage_operations[:, at]
        assert np.array_equal(estimates.operations[0], counted)


def rounding_of_scale(case: Case, made: Link, scale: float) -> float:
    """Return by what factor a scale may differ for rounding: errors against half-widths."""
    width = min(float(band.half_width(scale).min()) for band in made.bands) * LEAST_SPREAD
    largest = max(float(np.abs(band.own).max()) for band in made.bands)
    # The bands' shares are folded into a reduced set's weights and rounded once more.
    return (8 * max(1.0, largest) * float(case.errors.max())) / width


@pytest.mark.parametrize("scale", [0.5, 1.1, 3.0])
@pytest.mark.parametrize("kind", BANDED)
@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_finished_stage_decides_what_the_trial_says(
    kernel: str, n_classes: int, kind: str, scale: float
) -> None:
    case = digits(kernel, n_classes)
    made = case.linked(stage_of(kernel, n_classes, kind))
    results, _ = classify(case.exits(made, scale=scale), case.X)
    assert results["in_range"].all()
    decided = results["stage"] == 0
    slack = rounding_of_scale(case, made, scale)
    scales = np.array([scale * (1 + slack), scale * max(0.0, 1 - slack)])
    begin = case.begin
    label = case.program.ends.label
    trial, _ = made.trial(made.fitted.estimates, begin, label, scales)
    surely, perhaps = trial.first(scales[0])[1], trial.first(scales[1])[1]
    assert not (surely & ~decided).any()
    assert not (decided & ~perhaps).any()
    test = trial.first(scales[0])[0]
    sure_test = surely & (test == trial.first(scales[1])[0])
    said = trial.labels[test, np.arange(len(test))]
    assert np.array_equal(said[sure_test], results["label"][sure_test])


@pytest.mark.parametrize("scale", [1.1, 2.5])
@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_stages_in_a_row_spend_and_decide_what_their_trials_say(
    kernel: str, n_classes: int, scale: float
) -> None:
    case = digits(kernel, n_classes)
    links, trials = [], []
    state = case.begin
    for kind in BANDED[:3]:
        made = case.linked(stage_of(kernel, n_classes, kind), state)
        label = case.program.ends.label
        trial, state = made.trial(made.fitted.estimates, state, label, np.array([scale]))
        links.append(made)
        trials.append(trial)
    program = case.exits(*links, scale=scale)
    answers = interpret(program, case.X)
    whole = in_a_row(trials)
    test, decided = whole.first(scale)
    stage_of_test = np.array([0, 1, *([2] * (len(whole.scales) - 2))])
    expected = np.where(decided, stage_of_test[test], 3)
    same = expected == answers.results["stage"]
    # Rounding may move a sample that lies on a band's edge; at a scale of 1 some do.
    assert (~same).mean() <= 2 / len(case.X)
    gate = 1 + [stage.template for stage in program.stages].index("range_gate")
    spent = np.maximum(answers.stage_operations[:, gate:], 0).sum(axis=1)
    counted = whole.operations[test, np.arange(len(test))]
    kernels = np.concatenate([made.fitted.estimates.kernel_evals for made in links])
    early = same & decided & (kernels[test] == answers.results["kernel_evals"])
    assert early.mean() > 0.1
    assert np.array_equal(spent[early], counted[early])


@pytest.mark.parametrize("kind", BANDED)
@pytest.mark.parametrize("kernel", ["rbf", "poly", "sigmoid"])
def test_finished_stage_decides_nothing_at_an_infinite_scale(kernel: str, kind: str) -> None:
    case = digits(kernel, 2)
    made = case.linked(stage_of(kernel, 2, kind))
    with np.errstate(over="raise"):
        results, _ = classify(case.exits(made, scale=np.inf), case.X)
    assert (results["stage"] == 1).all()
    largest, _ = classify(case.exits(made, scale=SCALES[0]), case.X)
    assert (largest["stage"] == 1).any()


@pytest.mark.parametrize("kernel", ["rbf", "poly"])
def test_limits_hold_all_samples_and_not_what_lies_beside(kernel: str) -> None:
    case = digits(kernel, 2)
    square = sum_of_squares(case.x)
    stages = [stage_of(kernel, 2, kind) for kind in BANDED[1:3]]
    stages = [fit_of(stage).with_limits(stage, case.x, square) for stage in stages]
    program = case.with_stages(*stages)
    with unfinished():
        assert classify(program, case.X)[0]["in_range"].all()
    permuted = case.X[:, np.random.default_rng(0).permutation(case.X.shape[1])]
    # A shuffled sample has the length of the sample: the gate of lengths lets it through.
    with unfinished():
        assert not classify(program, permuted)[0]["in_range"].all()
    assert classify(case.with_stages(), permuted)[0]["in_range"].mean() > 0.99


def test_spread_of_a_finished_reduced_set_is_the_links() -> None:
    case = digits("rbf", 2)
    made = case.linked(stage_of("rbf", 2, "reduced_set"))
    _, after = made.follow(made.fitted.estimates, case.begin)
    stage = next(s for s in case.exits(made, scale=1.0).stages if isinstance(s, ReducedSet))
    spread = stage.limited(stage.rows(stage.products.of(case.x))[:, -1])
    # The row of the spread is scaled and rounded once more: one rounding a term.
    n_terms = stage.n_blocks * stage.lanes + stage.n_out + 1
    terms = np.abs(stage.weights[:, -1]).sum() + np.abs(stage.slopes[-1]).sum() * 10
    assert np.abs(spread - after.spread).max() <= 2 * n_terms * 2.0**-24 * (terms + 2)
    assert (spread >= np.float32(LEAST_SPREAD)).all()
    assert (spread <= np.float32(LARGEST_SPREAD)).all()


def test_filter_on_sparse_pixels_counts_the_pixels_of_each_sample() -> None:
    case = mnist_pair()
    assert case.skip_zeros
    stage = linear_filter(case.x, case.samples.decisions, case.relevant, case.skip_zeros)
    assert isinstance(stage, LinearFilter)
    estimates = estimates_of(stage, case.program.ends, case.x)
    spent = np.count_nonzero(case.x, axis=1) + 2 + case.program.ends.label.operations()
    assert np.array_equal(estimates.operations[0], spent)
