"""Votes of some pairs settle the label that the votes of all pairs give."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from kit.catalogue import emitted
from kit.pairs import MORE, Pairs
from kmcompile.exits.certified.likely import likely_inputs
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import bound_constant, gamma_factor
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages import PairSum, Vote
from kmcompile.program.stages.sums.pair_votes import PairVotes, votes_of


def of_all_pairs(decisions: np.ndarray, bounds: np.ndarray, n_classes: int) -> Batch:
    batch = Batch.of(np.zeros((len(decisions), 1), np.float32), decisions.shape[1])
    own = {field: getattr(batch, field) for field in batch.__slots__}
    vote = Vote(n_classes, False, bound_constant(2 * gamma_factor(n_classes)))
    return vote.run(Batch(**{**own, "decision": decisions, "bound": bounds}))


def check(decisions: np.ndarray, bounds: np.ndarray, score: np.ndarray) -> PairVotes:
    """Compare the votes of some pairs with those of all."""
    n_classes = score.shape[1]
    votes = votes_of(decisions, bounds, score)
    every = of_all_pairs(decisions, bounds, n_classes)
    np.testing.assert_array_equal(votes.label, every.label)
    np.testing.assert_array_equal(votes.settled, every.settled)
    assert (votes.settled | votes.evaluated.all(axis=1)).all()
    assert (votes.evaluated.sum(axis=1) >= n_classes - 1).all()
    all_evaluated = votes.evaluated.all(axis=1)
    np.testing.assert_array_equal(votes.lower[all_evaluated], every.lower[all_evaluated])
    np.testing.assert_array_equal(votes.upper[all_evaluated], every.upper[all_evaluated])
    return votes


def test_every_small_case_of_three_classes_has_the_label_of_all_pairs():
    """Signs, zeros, ties, bounds that are too wide or no numbers, every order of the classes."""
    signs = list(itertools.product([-1.0, 0.0, 1.0], repeat=3))
    widths = list(itertools.product([0.5, 1.5, np.nan], repeat=3))
    orders = list(itertools.permutations([0.0, 1.0, 2.0]))
    cases = list(itertools.product(signs, widths, orders))
    check(*(np.array(part, dtype=np.float32) for part in zip(*cases, strict=True)))


@pytest.mark.parametrize("n_classes", [4, 5, 9])
def test_votes_with_many_ties_have_the_label_of_all_pairs(n_classes):
    rng = np.random.default_rng(n_classes)
    shape = (2000, n_classes * (n_classes - 1) // 2)
    decisions = rng.integers(-3, 4, size=shape).astype(np.float32)
    bounds = rng.choice([0.25, 0.75, 1.5, np.nan], p=[0.9, 0.06, 0.03, 0.01], size=shape)
    score = rng.integers(0, 3, size=(len(decisions), n_classes)).astype(np.float32)
    votes = check(decisions, bounds.astype(np.float32), score)
    assert votes.settled.any()
    assert not votes.settled.all()


def test_a_class_that_wins_all_its_pairs_for_certain_needs_no_other():
    """The right guess meets every other class once; a wrong one adds the pairs before it loses."""
    n = 6
    pairs = list(itertools.combinations(range(n), 2))
    rank_of = np.array([3, 0, 5, 1, 4, 2])  # the lower one wins
    decisions = np.array([[1.0 if rank_of[i] < rank_of[j] else -1.0 for i, j in pairs]], np.float32)
    bounds = np.full_like(decisions, 0.5)
    right = check(decisions, bounds, -rank_of[None].astype(np.float32))
    wrong = check(decisions, bounds, rank_of[None].astype(np.float32))
    assert right.evaluated.sum() == n - 1
    assert wrong.evaluated.sum() == (n - 1) + (n - 2)


@pytest.mark.parametrize("n_classes", [3, 4, 7])
def test_known_pairs_leave_the_label_as_it_is_and_are_not_evaluated_again(n_classes):
    rng = np.random.default_rng(n_classes)
    shape = (2000, n_classes * (n_classes - 1) // 2)
    decisions = rng.integers(-3, 4, size=shape).astype(np.float32)
    bounds = rng.choice([0.25, 1.5, np.nan], p=[0.9, 0.09, 0.01], size=shape).astype(np.float32)
    score = rng.integers(0, 3, size=(len(decisions), n_classes)).astype(np.float32)
    known = (np.abs(decisions) > bounds) & (rng.random(shape) < 0.5)
    votes = votes_of(decisions, bounds, score, known)
    every = of_all_pairs(decisions, bounds, n_classes)
    np.testing.assert_array_equal(votes.label, every.label)
    np.testing.assert_array_equal(votes.settled, every.settled)
    assert (votes.evaluated[known]).all()
    alone = votes_of(decisions, bounds, score)
    needed, before = (votes.evaluated & ~known).sum(), alone.evaluated.sum()
    assert needed < before


def test_a_class_that_lacks_one_sure_vote_meets_only_the_class_that_could_take_it():
    """Class 2 of four is known to beat 0 and 1; its pair with 3 settles the label."""
    pairs = list(itertools.combinations(range(4), 2))
    decisions = np.array([[1.0 if i == 2 else -1.0 if j == 2 else 1.0 for i, j in pairs]])
    known = np.array([[2 in pair and 3 not in pair for pair in pairs]])
    score = np.array([[3.0, 2.0, 1.0, 0.0]], np.float32)
    decisions = decisions.astype(np.float32)
    votes = votes_of(decisions, np.full_like(decisions, 0.5), score, known)
    assert votes.label == [2] and votes.settled.all()
    assert (votes.evaluated & ~known).sum() == 1


@pytest.mark.few
@pytest.mark.parametrize("case", [Pairs(), *MORE], ids=str)
def test_decisions_lie_within_the_bounds_of_the_exact_sum(case):
    """Both hold the same true value, so they differ by at most the sum of their bounds."""
    one = emitted(case, "host")
    exact = case.exact("host")
    found, expected = interpret(one.program, one.queries), interpret(exact.program, one.queries)
    ok = (found.results["status"] == Status.OK) & (expected.results["status"] == Status.OK)
    assert ok.sum() > 100
    gap = np.abs(found.decisions[ok].astype(np.float64) - expected.decisions[ok])
    assert (gap <= found.bounds[ok].astype(np.float64) + expected.bounds[ok]).all()
    certified = ok & found.results["certified"] & expected.results["certified"]
    np.testing.assert_array_equal(
        found.results["label"][certified], expected.results["label"][certified]
    )


def test_fewer_kernels_are_computed_than_there_are_vectors():
    one = emitted(Pairs(), "host")
    stage = one.program.ends.exact
    assert isinstance(stage, PairSum)
    own = one.answers.stage_kernels[:, -2]
    accepted = one.answers.results["status"] == Status.OK
    assert (own[accepted] < stage.n_vectors).mean() > 0.5
    assert own.max() <= stage.n_vectors
    spent = one.answers.stage_operations[accepted, -2]
    assert spent.max() <= stage.operations()


def test_every_coefficient_stands_in_one_pair_of_its_vector():
    one = emitted(Pairs(), "host")
    stage = one.program.ends.exact
    assert stage.n_entries == stage.pair_ends[-1, 1]
    for positive, negative in stage.lists():
        assert (stage.coefficients[positive] > 0).all()
        assert (stage.coefficients[negative] < 0).all()
        entries = stage.entry_vectors[positive.start : negative.stop]
        assert len(np.unique(entries)) == len(entries)


@pytest.mark.exhaustive
def test_pairs_of_a_query_are_counted():
    emitted = Pairs(has_exit=True, replays=False).emit("host")
    program = emitted.program
    X = likely_inputs(emitted.machine, 300)
    answers = interpret(program, X)
    summed = answers.results["stage"] == len(program.early_exits)
    assert 0 < summed.sum() < len(X)
    assert (answers.pairs[~summed] == 0).all()
    assert (answers.pairs[summed] >= 1).all() and answers.pairs.max() <= 6
    assert answers.pairs[summed].min() < 3  # some pairs were proved before
