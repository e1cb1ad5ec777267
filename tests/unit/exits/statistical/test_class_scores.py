"""Class scores: the label of a machine of pairs from the lead of one score a class."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from calibration_cases import Case, digits
from sklearn.datasets import load_digits
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from kit.lowered import program_of
from kmcompile import compile_model, readers
from kmcompile.exits.statistical.cascade_exit import Misled, Seen
from kmcompile.exits.statistical.class_scores import Lessons, class_of
from kmcompile.exits.statistical.class_scores_fit import ClassScoresFit
from kmcompile.exits.statistical.lead_link import LeadLink
from kmcompile.exits.statistical.risk import PATH
from kmcompile.exits.statistical.statistical_fit import FitSamples
from kmcompile.passes import run_passes
from kmcompile.program.stages import ClassScores
from kmcompile.program.stages.early_exits.class_scores import leads_of

FIT = ClassScoresFit()


@cache
def stages() -> list[ClassScores]:
    """Return linear scores of ten digits, and the first ones by vectors."""
    case = digits("rbf", 10)
    samples = FitSamples(
        case.program.ends, case.x, case.samples.decisions, case.relevant, case.skip_zeros, None
    )
    jobs = list(FIT.jobs(samples))
    return [fit(*arguments) for fit, arguments, _ in jobs[:2]]


def link_of(number: int) -> LeadLink:
    case = digits("rbf", 10)
    fitted = case.fitted(stages()[number])
    return LeadLink.of(fitted, case.begin, case.samples.decisions, case.relevant)


def seen_by(case: Case) -> Seen:
    batch = case.program.prepare.run(_batch(case))
    return Seen(batch, case.samples.labels.astype(np.int32))


def _batch(case: Case):  # type: ignore[no-untyped-def]
    from kmcompile.numeric.batch import Batch

    return Batch.of(case.X, case.program.n_decisions)


@pytest.mark.parametrize("number", [0, 1])
def test_the_trial_decides_what_the_finished_stage_decides(number: int) -> None:
    case, made = digits("rbf", 10), link_of(number)
    seen = seen_by(case)
    made = replace(made, floor=np.linspace(0, 1.5, 10) * made.width)
    ends = case.program.ends
    trial, after = made.trial(made.results_on(seen, ends), seen.begin, ends.label, np.array(PATH))
    assert after.least is seen.begin.least
    for scale in PATH[::7]:
        answered, decided = made.finished(2, scale).decide(seen.batch, ends)
        assert np.array_equal(decided, trial.scales[0] >= scale)
        assert np.array_equal(answered.label[decided], trial.labels[0][decided])
    spent = answered.operations - seen.batch.operations
    assert np.array_equal(spent * ends.weight(made.stage), trial.operations[0])


@pytest.mark.parametrize("number", [0, 1])
def test_no_sample_gets_another_label_at_a_scale_of_1(number: int) -> None:
    case, made = digits("rbf", 10), link_of(number)
    seen = seen_by(case)
    answered, decided = made.finished(1, 1.0).decide(seen.batch, case.program.ends)
    assert decided.any()
    assert np.array_equal(answered.label[decided], seen.labels[decided])


def test_a_point_that_misleads_the_scores_widens_the_band_of_its_class_only() -> None:
    made = replace(link_of(0), width=np.full(10, 1e-6))
    case = digits("rbf", 10)
    seen = seen_by(case)
    results = made.results_on(seen, case.program.ends)
    labels, leads = leads_of(results.values[0])
    wrong = np.flatnonzero(labels != seen.labels)
    assert len(wrong)
    counts = np.zeros_like(case.relevant)
    counts[wrong[:1]] = case.relevant[wrong[:1]]
    wide = made.with_floor(results, seen.begin, Misled(case.samples.decisions, counts, 1e9))
    assert wide.is_widened(1.0) and not made.is_widened(1.0)
    assert np.flatnonzero(wide.floor).tolist() == [labels[wrong[0]]]
    assert wide.floor[labels[wrong[0]]] > leads[wrong[0]].min()
    _, decided = wide.finished(1, 1.0).decide(seen.batch, case.program.ends)
    assert not decided[wrong[0]]


def test_the_derivative_of_the_loss_is_its_slope() -> None:
    rng = np.random.default_rng(0)
    decisions, known = rng.normal(size=(20, 6)), rng.random((20, 6)) > 0.2
    labels = rng.integers(4, size=20).astype(np.int32)
    lessons = Lessons.of(np.zeros((20, 1)), labels, decisions, known, 4)
    loss = lessons.loss()
    scores, step = rng.normal(size=(20, 4)).astype(np.float32), np.float32(2.0**-7)
    found = loss(scores)[1]
    for at in ((0, 0), (3, 2), (19, 3), (7, int(labels[7]))):
        ends = []
        for sign in (-1, 1):
            moved = scores.copy()
            moved[at] += sign * step
            ends.append(loss(moved)[0])
        # The second derivative of a pair's loss is at most 4, the third less than 16.
        middle = (ends[1] - ends[0]) / (2 * step)
        rounded = 4 * np.finfo(np.float32).eps * abs(ends[0]) / step
        assert abs(middle - found[at]) <= 16 * step**2 + rounded


def test_the_class_of_a_sample_is_that_of_its_pairs() -> None:
    case = digits("rbf", 10)
    assert np.array_equal(class_of(case.relevant), case.samples.labels)


def test_two_classes_and_one_vs_rest_have_no_class_scores() -> None:
    X, y = load_digits(return_X_y=True)
    rest = OneVsRestClassifier(SVC(gamma=0.001)).fit(X[:200], y[:200])
    program = program_of(run_passes(readers.load_model(rest)))
    assert "no more decisions than classes" in FIT.why_not(program.ends)
    assert FIT.why_not(digits("rbf", 2).program.ends)
    assert not FIT.why_not(digits("rbf", 10).program.ends)


@pytest.mark.exhaustive
def test_class_scores_can_be_asked_for() -> None:
    case = digits("rbf", 10)
    asked = {"risk": 0.02, "stages": "class_scores", "verify": "host"}
    made = compile_model(case.estimator, data=case.X, mode="statistical", **asked)
    kinds = [stage["name"] for stage in made.report["stages"]]
    assert kinds[2:3] == ["class_scores_1"]
    assert made.report["verification"]["exact"]["host"]["mismatches"] == 0
