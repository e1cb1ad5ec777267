"""Sums by pairs are taken where they cost less than the exact sum with its exits."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.svm import SVC

from kit.lowered import lowered
from kit.pairs import Pairs
from kit.plans import plan_for
from kmcompile.exits.candidates.candidate import Candidate, cost_of, merged
from kmcompile.exits.candidates.room import room_for_exits
from kmcompile.exits.certified.choice import WORTH
from kmcompile.exits.certified.likely import likely_inputs
from kmcompile.exits.early_exits import add_early_exits
from kmcompile.exits.pairwise import offer_pairs
from kmcompile.exits.statistical.calibration import Calibration
from kmcompile.exits.statistical.pairs import with_offer
from kmcompile.exits.statistical.risk import Tally, decide_nothing
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, PairSum
from kmcompile.request.budgets import Budgets
from kmcompile.target import load_target

HOST = load_target("host")
NO_LIMIT = Budgets(None, None)


@pytest.fixture(scope="module")
def low():
    return lowered(Pairs(n_classes=7).fitted())


@pytest.fixture(scope="module")
def samples(low):
    return likely_inputs(low.machine, 120)


def offer(low, samples, allowed=NO_LIMIT):
    return offer_pairs(low.machine, low.program, HOST, allowed, samples, samples)


def calibration(cost: float) -> Calibration:
    promise = decide_nothing("guaranteed", 0.01, Tally(500, 0))
    candidates = (Candidate(("exit", "exact_sum"), cost, True, cost),)
    return Calibration(promise, "risk", 10, 10, 10, 0, candidates, ())


@pytest.mark.exhaustive
def test_mode_certified_sums_by_pairs_where_that_is_cheaper(low):
    plan = plan_for(low.machine, mode="certified", optimize="mean")
    made = add_early_exits(low.machine, low.program, plan, lambda text: None)
    assert isinstance(made.program.ends.exact, PairSum)
    assert made.program.mode == "certified"
    chosen = [c for c in made.choice.candidates if c.chosen]
    assert len(chosen) == 1
    assert chosen[0].stages[-1] == "pair_sum"
    assert WORTH * chosen[0].instructions <= made.choice.candidates[0].instructions
    assert ("exact_sum",) in {c.stages for c in made.choice.candidates}
    assert made.speedup > 1


def test_mode_exact_sums_all_pairs(low):
    made = add_early_exits(
        low.machine, low.program, plan_for(low.machine, mode="exact"), lambda text: None
    )
    assert isinstance(made.program.ends.exact, ExactSum)


def test_nothing_is_offered_where_the_workspace_does_not_fit(low, samples):
    assert offer(low, samples) is not None
    assert offer(low, samples, Budgets(None, 5000)) is None
    assert offer(low, samples, Budgets(1000, None)) is None


@pytest.mark.parametrize("parameters", [{"break_ties": True}, {"kernel": "linear"}])
def test_machines_whose_label_needs_all_pairs_keep_their_sum(parameters):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    one = lowered(SVC(**parameters).fit(X, np.argmax(X[:, :3], axis=1)))
    assert offer(one, X.astype(np.float32)) is None


@pytest.mark.exhaustive
def test_the_choice_says_that_pairs_are_summed_together():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 4))
    one = lowered(SVC(break_ties=True).fit(X, np.argmax(X[:, :3], axis=1)))
    made = add_early_exits(
        one.machine, one.program, plan_for(one.machine, mode="certified"), lambda text: None
    )
    assert isinstance(made.program.ends.exact, ExactSum)
    assert any("all pairs of classes are summed together" in note for note in made.choice.notes)


def test_a_calibrated_program_stays_where_it_is_cheaper(low, samples):
    offered = offer(low, samples)
    mean = float(offered.operations.mean())
    promise = decide_nothing("guaranteed", 0.02, Tally(500, 0))
    room = room_for_exits(low.program, NO_LIMIT, 0, 1.0)

    def better(own: Calibration) -> tuple[Program, Calibration]:
        return with_offer(low.program, own, offered, promise, samples, samples, room)

    kept, found = better(calibration(mean - 1))
    assert kept is low.program
    assert [c.chosen for c in found.candidates] == [True, False]
    taken, found = better(calibration(mean + 1))
    assert isinstance(taken.ends.exact, PairSum)
    assert taken.mode == "statistical"
    assert found.promise == promise
    assert [c.stages for c in found.candidates if c.chosen] == [("pair_sum",)]


def test_of_two_choices_one_candidate_is_chosen():
    first = (
        Candidate(("a", "exact_sum"), 5.0, True, 5.0),
        Candidate(("exact_sum",), 9.0, False, 9.0),
    )
    second = (Candidate(("pair_sum",), 4.0, True, 4.0),)
    assert [c.chosen for c in merged(first, second, True)] == [True, False, False]
    assert [c.chosen for c in merged(first, second, False)] == [False, True, False]
    assert cost_of(merged(first, second, False)) == 5.0
