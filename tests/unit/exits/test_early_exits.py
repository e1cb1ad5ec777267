"""What early exits gain is what their chooser measured, whatever the control samples leave."""

from __future__ import annotations

from dataclasses import replace

import pytest
from sklearn.datasets import load_iris
from sklearn.kernel_approximation import RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from kit.lowered import lowered
from kit.plans import plan_for
from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.exits.certified.certify import Choice
from kmcompile.exits.early_exits import WithExits, add_early_exits, why_none

IRIS = load_iris(return_X_y=True)
SAMPLER = make_pipeline(RBFSampler(n_components=9, random_state=0), LinearSVC()).fit(*IRIS)


def choice(*candidates: Candidate) -> WithExits:
    """Return what a chooser of certified exits found."""
    program = lowered(SVC().fit(*IRIS)).program
    return WithExits(program, choice=Choice("generated", 100, candidates, ()))


def test_the_gain_is_that_of_the_candidate_that_was_chosen():
    made = choice(
        Candidate(("exit 1", "exact_sum"), 25.0, True, 25.0),
        Candidate(("exit 2", "exact_sum"), 50.0, False, 50.0),
        Candidate(("exact_sum",), 100.0, False, 100.0),
    )
    assert made.speedup == 4.0


def test_the_sum_alone_gains_nothing():
    assert choice(Candidate(("exact_sum",), 100.0, True, 100.0)).speedup == 1.0


@pytest.mark.parametrize(
    ("estimator", "mode"),
    [
        (SVC().fit(*IRIS), "exact"),
        (LinearSVC().fit(*IRIS), "certified"),
        (SAMPLER, "certified"),
        (SAMPLER, "statistical"),
    ],
)
def test_without_early_exits_the_program_stays_as_it_is(estimator, mode):
    one = lowered(estimator)
    plan = replace(plan_for(one.machine), mode=mode)
    made = add_early_exits(one.machine, one.program, plan, print)
    assert made.program is one.program
    assert made.speedup == 1.0


def test_a_kernel_without_early_exits_says_why():
    one = lowered(SAMPLER)
    reason = why_none(one.machine, plan_for(one.machine, mode="certified"), one.program)
    assert reason == "mode certified is not used: there is no early exit for the fourier kernel"
    other = lowered(SVC().fit(*IRIS))
    assert why_none(other.machine, plan_for(other.machine), other.program) == ""
