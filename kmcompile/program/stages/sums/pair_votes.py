"""Evaluate pairs of classes in a good order, until their votes settle the label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array


@dataclass(frozen=True, slots=True, eq=False)
class PairVotes:
    """Label, interval and certificate from some pairs only, for a batch of queries.

    Parameters
    ----------
    label : ndarray of shape (n_queries,), int32
        The label that `Vote` gives for all pairs.
    lower, upper : ndarray of shape (n_queries,), float32
        Interval of the known or evaluated pair with the smallest |f| among those that the winner
        won.
    settled : ndarray of shape (n_queries,), bool
        No outcome of the pairs that are not evaluated, or whose interval holds 0, changes the
        label.
    evaluated : ndarray of shape (n_queries, n_pairs), bool
        Known pairs included.
    settling : ndarray of shape (n_queries,), int64
        Number of evaluated pairs after known ones and both sweeps.
    turn : ndarray of shape (n_queries, n_pairs), int32
        The place of a pair in the order of evaluation, from 1; 0 of pairs that are not evaluated.
    """

    label: NDArray[np.int32]
    lower: Float32Array
    upper: Float32Array
    settled: NDArray[np.bool_]
    evaluated: NDArray[np.bool_]
    settling: NDArray[np.int64]
    turn: NDArray[np.int32]


def votes_of(
    decision: Float32Array,
    bound: Float32Array,
    score: Float32Array,
    known: NDArray[np.bool_] | None = None,
) -> PairVotes:
    """Evaluate pairs until the votes settle the label, in this order.

    A query of which some pairs are known begins with the third step: they tell which classes can
    still win.

    1. The class with the best score meets the class with the next score. The winner of a pair
       meets the class after it, and so on. A class that loses cannot win all of its pairs.
    2. The last winner meets the classes that it has not met yet. A class that wins all its pairs,
       with no interval that holds 0, is the label: every other class has surely lost a pair.
    3. Until the label is settled or all pairs are evaluated: of the classes that have not met all
       others, the class with the most possible votes (of equal ones that with most sure votes, of
       these the first) meets the class with the most possible votes that it has not met (of equal
       ones that with the best score).

    A pair that is not evaluated is a possible vote for both classes. The leader is the class with
    the most votes, of equal ones the first. The label is settled when the leader's sure votes beat
    the possible votes of every other class; a tie goes to the lower index. A
    sure vote is the sign of its pair, so no outcome of other pairs changes the label that `Vote`
    gives.

    Parameters
    ----------
    decision, bound : ndarray of shape (n_queries, n_pairs), float32
        Decisions and bounds of all pairs; only known and evaluated pairs are read.
    score : ndarray of shape (n_queries, n_classes), float32
    known : ndarray of shape (n_queries, n_pairs), bool, optional
        Pairs whose sign is proved already; they count as evaluated. Default: none.
    """
    votes = _Votes(decision, bound, score)
    everything = np.arange(len(score))
    if known is None:
        known = np.zeros(decision.shape, dtype=bool)
    votes.recall(known)
    _sweep(votes, np.flatnonzero(~known.any(axis=1)))
    settling = np.zeros(len(score), dtype=np.int64)
    rows = everything
    while len(rows := rows[~votes.settled(rows) & votes.are_open(rows)]):
        first = votes.strongest(rows)
        votes.meet(rows, first, votes.next_opponent(rows, first))
        settling[rows] += 1
    label = votes.leader(everything)
    lower, upper = votes.interval(label)
    settled = votes.settled(everything)
    return PairVotes(
        label.astype(np.int32), lower, upper, settled, votes.evaluated, settling, votes.turn
    )


def _sweep(votes: _Votes, rows: NDArray[np.intp]) -> None:
    """Let the classes of some queries meet in the order of their scores, then the last winner."""
    rank = votes.rank[rows]
    candidate = rank[:, 0]
    for k in range(1, votes.n_classes):
        candidate = votes.meet(rows, candidate, rank[:, k])
    for k in range(votes.n_classes):
        other = rank[:, k]
        left = np.flatnonzero((other != candidate) & ~votes.have_met(rows, candidate, other))
        votes.meet(rows[left], candidate[left], other[left])


class _Votes:
    """The counts of votes while pairs are evaluated."""

    def __init__(self, decision: Float32Array, bound: Float32Array, score: Float32Array) -> None:
        n, n_classes = score.shape
        self.n_classes = n_classes
        self.decision = decision
        self.lower, self.upper = decision - bound, decision + bound
        self.rank = np.argsort(-score, axis=1, kind="stable")
        self.evaluated = np.zeros(decision.shape, dtype=bool)
        self.turn = np.zeros(decision.shape, dtype=np.int32)
        self.votes, self.sure, self.met = (np.zeros((n, n_classes), np.int32) for _ in range(3))
        self.possible = np.full((n, n_classes), n_classes - 1, dtype=np.int32)

    def pair(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the index of the pair of two different classes; any index for equal classes."""
        i, j = np.minimum(a, b), np.maximum(a, b)
        p = i * (2 * self.n_classes - i - 1) // 2 + np.maximum(j - i, 1) - 1
        return np.asarray(np.minimum(p, self.decision.shape[1] - 1))

    def meet(
        self, rows: NDArray[np.intp], a: NDArray[np.intp], b: NDArray[np.intp]
    ) -> NDArray[np.intp]:
        """Evaluate one pair for each of the rows; return the winning classes."""
        i, j, p = np.minimum(a, b), np.maximum(a, b), self.pair(a, b)
        for_i, for_j = self.lower[rows, p] > 0, self.upper[rows, p] < 0
        winner: NDArray[np.intp] = np.where(self.decision[rows, p] > 0, i, j)
        self.turn[rows, p] = self.evaluated[rows].sum(axis=1) + 1
        self.evaluated[rows, p] = True
        self.votes[rows, winner] += 1
        self.met[rows, i] += 1
        self.met[rows, j] += 1
        self.sure[rows, i] += for_i
        self.sure[rows, j] += for_j
        self.possible[rows, i] -= for_j
        self.possible[rows, j] -= for_i
        return winner

    def recall(self, known: NDArray[np.bool_]) -> None:
        """Take in the pairs whose sign is known as if they had been evaluated."""
        for i in range(self.n_classes):
            for j in range(i + 1, self.n_classes):
                pair = self.pair(np.array([i]), np.array([j]))
                rows = np.flatnonzero(known[:, pair])
                self.meet(rows, np.full(len(rows), i), np.full(len(rows), j))

    def have_met(
        self, rows: NDArray[np.intp], a: NDArray[np.intp], b: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """Return whether the pair of two classes of each of the rows has been evaluated."""
        met: NDArray[np.bool_] = self.evaluated[rows, self.pair(a, b)]
        return met

    def are_open(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether any pair is left."""
        return np.asarray(~self.evaluated[rows].all(axis=1))

    def leader(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the class with the most votes, the first of equal ones."""
        return np.asarray(self.votes[rows].argmax(axis=1))

    def settled(self, rows: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return whether the leader's sure votes beat the possible ones of every other class."""
        leader = self.leader(rows)[:, None]
        own = self.sure[rows[:, None], leader]
        classes = np.arange(self.n_classes)
        possible = self.possible[rows]
        beaten = (own > possible) | ((own == possible) & (leader < classes))
        return np.asarray((beaten | (classes == leader)).all(axis=1))

    def strongest(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the strongest class that has not met all others, by possible and sure votes."""
        open_ = self.met[rows] < self.n_classes - 1
        strength = self.possible[rows] * self.n_classes + self.sure[rows]
        return np.asarray(np.where(open_, strength, -1).argmax(axis=1))

    def next_opponent(self, rows: NDArray[np.intp], first: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the class with the most possible votes that a class has not met."""
        rank = self.rank[rows]
        pairs = self.pair(first[:, None], rank)
        usable = (rank != first[:, None]) & ~self.evaluated[rows[:, None], pairs]
        possible = np.where(usable, self.possible[rows[:, None], rank], -1)
        return np.asarray(rank[np.arange(len(rows)), possible.argmax(axis=1)])

    def interval(self, label: NDArray[np.intp]) -> tuple[Float32Array, Float32Array]:
        """Return the interval of the closest pair that the label won."""
        rows = np.arange(len(label))
        smallest = np.full(len(label), np.inf, dtype=np.float32)
        lower, upper = np.zeros_like(smallest), np.zeros_like(smallest)
        for other in range(self.n_classes):
            rival = np.full(len(label), other)
            p = self.pair(label, rival)
            f = self.decision[rows, p]
            won = np.where(f > 0, np.minimum(label, rival), np.maximum(label, rival)) == label
            closer = (rival != label) & self.evaluated[rows, p] & won & (np.abs(f) < smallest)
            smallest = np.where(closer, np.abs(f), smallest)
            lower = np.where(closer, self.lower[rows, p], lower)
            upper = np.where(closer, self.upper[rows, p], upper)
        return lower, upper
