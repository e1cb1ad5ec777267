"""A trial is what the label stage says at every scale, and counts what the program would."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from calibration_cases import Case, digits

from kmcompile.exits.statistical.nearest import nearest_vectors
from kmcompile.exits.statistical.risk import SCALES
from kmcompile.exits.statistical.trial import Trial, in_a_row
from kmcompile.numeric.batch import Batch

CASES = [("rbf", 2), ("poly", 2), ("rbf", 10)]
STEPS = np.array([4, 20, 60])


@cache
def trial_of(kernel: str, n_classes: int, dimensions: tuple[int, ...] = (5, 12)) -> Trial:
    case = digits(kernel, n_classes)
    stage = nearest_vectors(case.exact, dimensions, STEPS, case.skip_zeros, np.inf)
    made = case.linked(stage)
    begin = case.begin
    label = case.program.ends.label
    return made.trial(made.fitted.estimates, begin, label, np.array(SCALES))[0]


def labels_of(case: Case) -> np.ndarray:
    return case.samples.labels.astype(np.int32)


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_smaller_scale_decides_what_a_larger_one_does_at_the_same_test_or_earlier(
    kernel: str, n_classes: int
) -> None:
    trial = trial_of(kernel, n_classes)
    before, decided_before = trial.first(np.inf)
    assert not decided_before.any()
    for scale in SCALES:
        test, decided = trial.first(scale)
        assert decided[decided_before].all()
        assert (test <= before)[decided_before].all()
        before, decided_before = test, decided
    assert decided_before.mean() > 0.5


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_largest_scale_and_label_are_those_of_the_label_stage_scale_by_scale(
    kernel: str, n_classes: int
) -> None:
    case, trial = digits(kernel, n_classes), trial_of(kernel, n_classes)
    stage = nearest_vectors(case.exact, (5, 12), STEPS, case.skip_zeros, np.inf)
    made = case.linked(stage)
    decisions, _ = made.follow(made.fitted.estimates, case.begin)
    for test, (decision, band) in enumerate(zip(decisions, made.bands, strict=True)):
        for scale in SCALES[::6]:
            batch = Batch.of(case.x, case.program.n_decisions)
            width = np.broadcast_to(scale * band.half_width(1.0), decision.shape)
            answered = case.program.ends.label.run(_with(batch, decision, width))
            assert np.array_equal(answered.settled, trial.scales[test] >= scale)
            said = answered.label[answered.settled]
            assert np.array_equal(said, trial.labels[test][answered.settled])


def _with(batch: Batch, decision: np.ndarray, bound: np.ndarray) -> Batch:
    return replace(batch, decision=decision.astype(np.float32), bound=bound.astype(np.float32))


@pytest.mark.parametrize(("kernel", "n_classes"), CASES)
def test_counts_are_those_of_going_through_the_samples(kernel: str, n_classes: int) -> None:
    case, trial = digits(kernel, n_classes), trial_of(kernel, n_classes)
    labels, n = labels_of(case), len(case.X)
    exact = np.full(n, 10**6) + np.arange(n)
    per_kernel = np.full(n, 100) + np.arange(n) % 7
    for scale in SCALES[::8]:
        unlike, spent = np.zeros(n, dtype=bool), 0
        for row in range(n):
            for test in range(len(trial.scales)):
                if trial.scales[test, row] >= scale:
                    unlike[row] = trial.labels[test, row] != labels[row]
                    spent += trial.operations[test, row]
                    break
            else:
                spent += trial.operations[-1, row] + exact[row]
                spent -= per_kernel[row] * trial.known[row]
        assert np.array_equal(trial.wrong(scale, labels), unlike)
        assert trial.disagreements(scale, labels) == unlike.sum()
        assert trial.mean_operations(scale, exact, per_kernel) == spent / n


def test_trials_in_a_row_add_the_operations_of_those_before() -> None:
    first, second = trial_of("rbf", 2, (5,)), trial_of("rbf", 2)
    both = in_a_row([first, second])
    n = len(first.scales)
    assert np.array_equal(both.operations[:n], first.operations)
    assert np.array_equal(both.operations[n:], second.operations + first.operations[-1])
    assert np.array_equal(both.known, second.known)
    assert (second.known == STEPS[-1]).all()
    decided_first = first.first(1.0)[1]
    assert np.array_equal(both.first(1.0)[0][decided_first], first.first(1.0)[0][decided_first])
    assert np.array_equal(both.first(1.0)[1], decided_first | second.first(1.0)[1])
