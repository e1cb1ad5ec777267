"""The stages that turn decisions into a label: the same label by brute force, sound certificates.

reliability 17: one-vs-one ties and `break_ties` as scikit-learn counts them.
"""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.utils.multiclass import _ovr_decision_function

from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import bound_constant, gamma_factor
from kmcompile.program.stages import Argmax, Sign, Vote
from kmcompile.program.stages.stage import Stage


def run(stage: Stage, decisions: np.ndarray, bounds: np.ndarray) -> Batch:
    decisions = np.asarray(decisions, dtype=np.float32)
    batch = Batch.of(np.zeros((len(decisions), 1), dtype=np.float32), decisions.shape[1])
    fields = dict(decision=decisions, bound=np.asarray(bounds, dtype=np.float32))
    return stage.run(Batch(**{**{f: getattr(batch, f) for f in batch.__slots__}, **fields}))


def vote(n_classes: int, break_ties: bool) -> Vote:
    return Vote(n_classes, break_ties, bound_constant(2 * gamma_factor(n_classes)))


def scikit_learn_label(decisions: np.ndarray, n_classes: int, break_ties: bool) -> int:
    """Return the label of sklearn/svm/_base.py for LIBSVM's decisions of one query."""
    row = decisions[None, :].astype(np.float64)
    if break_ties:
        return int(_ovr_decision_function(row < 0, -row, n_classes).argmax(axis=1)[0])
    votes = [0] * n_classes
    for (i, j), f in zip(itertools.combinations(range(n_classes), 2), decisions, strict=True):
        votes[i if f > 0 else j] += 1  # svm.cpp, svm_predict_values
    return votes.index(max(votes))


def queries(n_classes: int, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return small whole decisions, so that ties and zeros are frequent, and their bounds."""
    rng = np.random.default_rng(seed)
    shape = (n, n_classes * (n_classes - 1) // 2)
    decisions = rng.integers(-3, 4, size=shape).astype(np.float32)
    bounds = rng.choice([0.25, 0.75, 1.5, 2.5], p=[0.6, 0.2, 0.1, 0.1], size=shape)
    return decisions, bounds.astype(np.float32)


def test_bounds_that_are_no_numbers_certify_no_label():
    """Only a damaged table can give them; C and interpreter compare the same way."""
    decisions = np.array([[3.0, 1.0, 2.0], [1.0, 2.0, 3.0]])
    bounds = np.full((2, 3), np.nan)
    for stage in (Argmax(3), vote(3, False), vote(3, True)):
        assert not run(stage, decisions, bounds).settled.any()
    assert not run(Sign(True), decisions[:, :1], bounds[:, :1]).settled.any()


@pytest.mark.parametrize("break_ties", [False, True])
@pytest.mark.parametrize("n_classes", [3, 4, 5, 9])
def test_votes_give_the_label_of_scikit_learn(n_classes, break_ties):
    decisions, bounds = queries(n_classes, 1500, seed=n_classes)
    labels = run(vote(n_classes, break_ties), decisions, bounds).label
    expected = [scikit_learn_label(row, n_classes, break_ties) for row in decisions]
    assert labels.tolist() == expected


@pytest.mark.parametrize("break_ties", [False, True])
@pytest.mark.parametrize("n_classes", [3, 4])
def test_a_certified_label_is_the_label_of_every_outcome(n_classes, break_ties):
    decisions, bounds = queries(n_classes, 400, seed=20 + n_classes)
    batch = run(vote(n_classes, break_ties), decisions, bounds)
    rng = np.random.default_rng(9)
    for row in np.flatnonzero(batch.settled):
        ends = [
            sorted({f - e, f, f + e, *([0.0] if abs(f) <= e else [])})
            for f, e in zip(decisions[row].tolist(), bounds[row].tolist(), strict=True)
        ]
        every = itertools.product(*ends)
        outcomes = list(every) if n_classes == 3 else []
        outcomes += [[rng.choice(e) for e in ends] for _ in range(20)]
        for outcome in outcomes:
            label = scikit_learn_label(np.array(outcome), n_classes, break_ties)
            assert label == batch.label[row], (decisions[row], bounds[row], outcome)


@pytest.mark.parametrize("n_classes", [3, 4, 6])
def test_a_label_is_certified_wherever_every_pair_is(n_classes):
    decisions, bounds = queries(n_classes, 2000, seed=40 + n_classes)
    batch = run(vote(n_classes, False), decisions, bounds)
    sure = (np.abs(decisions) > bounds).all(axis=1)
    assert sure.any()
    assert batch.settled[sure].all()
    assert batch.settled[~sure].any()  # "all pairs" would certify none of them
    assert not batch.settled.all()


def test_a_label_is_not_certified_by_the_winners_own_pairs_alone():
    """That rule is unsound."""
    # Class 0 wins its pairs but one; rival 2 beats it and may win (1, 2) and (2, 3) too.
    decisions = np.array([[1.0, -1.0, 1.0, 0.1, 1.0, 0.1]])
    bounds = np.array([[0.5, 0.5, 0.5, 0.5, 0.5, 0.5]])
    batch = run(vote(4, False), decisions, bounds)
    assert scikit_learn_label(np.array([1, -1, 1, -0.1, 1, 0.1]), 4, False) == 2
    assert batch.label[0] == 0
    assert not batch.settled[0]


def test_break_ties_certifies_a_tie_that_the_confidences_part():
    decisions = np.array([[3.0, -1.0, 1.0]])  # one vote each; confidences 2, -2, 0
    narrow = run(vote(3, True), decisions, np.full((1, 3), 0.25))
    wide = run(vote(3, True), decisions, np.full((1, 3), 0.75))
    assert narrow.label[0] == wide.label[0] == 0
    assert narrow.settled[0]
    assert not wide.settled[0]


@pytest.mark.parametrize("break_ties", [False, True])
def test_a_bound_that_is_no_number_certifies_nothing(break_ties):
    batch = run(vote(3, break_ties), np.ones((3, 3)), np.diag([np.nan, np.nan, np.inf]))
    assert not batch.settled[batch.label == 1].any()
    decisions = np.array([[5.0, 5.0, 5.0]])
    for value in (np.nan, np.inf):
        assert not run(vote(3, break_ties), decisions, np.full((1, 3), value)).settled[0]


def test_the_interval_is_that_of_the_closest_pair_that_the_winner_won():
    decisions = np.array([[4.0, 2.0, -0.5]])
    batch = run(vote(3, False), decisions, np.full((1, 3), 0.25))
    assert (batch.label[0], batch.lower[0], batch.upper[0]) == (0, 1.75, 2.25)


@pytest.mark.parametrize(("zero_is_positive", "label"), [(True, 1), (False, 0)])
def test_zero_goes_to_the_class_that_the_estimator_gives_it(zero_is_positive, label):
    batch = run(Sign(zero_is_positive), np.array([[0.0], [-0.0]]), np.full((2, 1), 0.5))
    assert batch.label.tolist() == [label, label]
    assert not batch.settled.any()


def test_a_sign_is_certified_where_the_interval_excludes_zero():
    decisions = np.array([[1.0], [1.0], [-1.0], [-1.0], [np.float32(1e-38)]])
    bounds = np.array([[0.5], [1.0], [0.5], [1.5], [np.float32(1e-38)]])
    batch = run(Sign(True), decisions, bounds)
    assert batch.label.tolist() == [1, 1, 0, 0, 1]
    assert batch.settled.tolist() == [True, False, True, False, False]


def test_argmax_takes_the_first_of_equal_ones_and_certifies_what_is_apart():
    decisions = np.array([[1.0, 3.0, 3.0], [1.0, 3.0, 2.0], [1.0, 3.0, 2.0], [0.0, 0.0, 0.0]])
    bounds = np.array([[0.1] * 3, [0.4] * 3, [0.5] * 3, [0.1] * 3])
    batch = run(Argmax(3), decisions, bounds)
    assert batch.label.tolist() == [1, 1, 1, 0]
    assert batch.settled.tolist() == [False, True, False, False]


def test_argmax_takes_the_last_of_equal_ones_where_the_model_does():
    decisions = np.array([[1.0, 3.0, 3.0], [3.0, 3.0, 2.0], [1.0, 3.0, 2.0], [0.0, -0.0, 0.0]])
    bounds = np.array([[0.1] * 3, [0.4] * 3, [0.4] * 3, [0.1] * 3])
    batch = run(Argmax(3, last_of_equal=True), decisions, bounds)
    assert batch.label.tolist() == [2, 1, 1, 2]
    assert batch.settled.tolist() == [False, False, True, False]


def test_argmax_certifies_only_what_every_outcome_gives():
    decisions, bounds = queries(3, 2000, seed=77)
    batch = run(Argmax(3), decisions, bounds)
    assert batch.settled.any()
    for f, e, label in zip(
        decisions[batch.settled],
        bounds[batch.settled],
        batch.label[batch.settled],
        strict=True,
    ):
        for signs in itertools.product([-1.0, 0.0, 1.0], repeat=3):
            assert np.argmax(f + e * np.array(signs)) == label
