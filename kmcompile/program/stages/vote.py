"""The label of a one-vs-one machine: votes of all pairs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float32Array, Real, RealArray
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.outward import above, below
from kmcompile.program.shared import Place, Shared
from kmcompile.program.stages.stage import Always

ROUNDED_UP = np.float32(1.0 + 2.0**-10)
"""Covers the roundings in the sums of the slack itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Vote(Always):
    """Every pair (i, j), i < j, votes for i if f > 0 and for j otherwise; most votes win.

    A tie goes to the lower index, or with `break_ties` to the larger sum of confidences (and a
    pair with f = 0 then votes for i), as scikit-learn does. The interval is that of the pair
    with the smallest |f| among those that the winner won.

    The label is certified if it is the same under every outcome of the pairs whose interval
    holds 0 (math.md section 8): the winner's sure votes beat the possible votes of every other
    class. With `break_ties` it is also certified if all votes are sure and the intervals of the
    summed confidences decide the tie.

    Parameters
    ----------
    n_classes : int
    break_ties : bool
    tie_error : float32 or float64
        Bound on the relative error of a sum of confidences: twice gamma_(n_classes), rounded up.
    """

    n_classes: int
    break_ties: bool
    tie_error: Real

    template: ClassVar[str] = "vote"
    place: ClassVar[Place] = Place.LABEL

    @property
    def n_pairs(self) -> int:
        """Pairs of classes."""
        return self.n_classes * (self.n_classes - 1) // 2

    def run(self, batch: Batch) -> Batch:
        """Return the batch with label, interval and certificate."""
        shape = (len(batch.x), self.n_classes)
        votes, sure, possible = (np.zeros(shape, dtype=np.int32) for _ in range(3))
        total = np.zeros(shape, dtype=batch.decision.dtype)
        slack = np.zeros_like(total)
        lowers, uppers = batch.decision - batch.bound, batch.decision + batch.bound
        zero = np.float32(0.0)
        for p, (i, j) in enumerate(self.pairs()):
            decision = batch.decision[:, p]
            for_i = decision >= zero if self.break_ties else decision > zero
            votes[:, i] += for_i
            votes[:, j] += ~for_i
            sure[:, i] += lowers[:, p] > zero
            sure[:, j] += uppers[:, p] < zero
            # Written so that a NaN bound excludes neither class.
            possible[:, i] += ~(uppers[:, p] < zero)
            possible[:, j] += ~(lowers[:, p] > zero)
            if self.break_ties:
                total[:, i] += decision
                total[:, j] -= decision
                uncertainty = batch.bound[:, p] + np.abs(decision) * self.tie_error
                slack[:, i] += uncertainty
                slack[:, j] += uncertainty
        label = self._winner(votes, total)
        lower, upper = self._interval(label, batch.decision, lowers, uppers)
        return replace(
            batch,
            label=label,
            lower=lower,
            upper=upper,
            certified=self._certified(label, votes, sure, possible, total, slack),
        )

    def pairs(self) -> list[tuple[int, int]]:
        """Return the classes of each decision."""
        return [(i, j) for i in range(self.n_classes) for j in range(i + 1, self.n_classes)]

    def _winner(self, votes: np.ndarray, total: RealArray) -> np.ndarray:
        if not self.break_ties:
            winner = votes.argmax(axis=1)
        else:
            tied = votes == votes.max(axis=1, keepdims=True)
            winner = np.where(tied, total, -np.inf).argmax(axis=1)
        as_label: np.ndarray = winner.astype(np.int32)
        return as_label

    def _interval(
        self, label: np.ndarray, decision: RealArray, lowers: RealArray, uppers: RealArray
    ) -> tuple[Float32Array, Float32Array]:
        smallest = np.full(len(label), np.inf, dtype=decision.dtype)
        lower, upper = (np.zeros(len(label), dtype=np.float32) for _ in range(2))
        for p, (i, j) in enumerate(self.pairs()):
            for_i = decision[:, p] >= 0 if self.break_ties else decision[:, p] > 0
            margin = np.abs(decision[:, p])
            closer = (np.where(for_i, i, j) == label) & (margin < smallest)
            smallest = np.where(closer, margin, smallest)
            lower = np.where(closer, below(lowers[:, p]), lower)
            upper = np.where(closer, above(uppers[:, p]), upper)
        return lower, upper

    def _certified(
        self,
        label: np.ndarray,
        votes: np.ndarray,
        sure: np.ndarray,
        possible: np.ndarray,
        total: RealArray,
        slack: RealArray,
    ) -> np.ndarray:
        rows = np.arange(len(label))
        certified = np.ones(len(label), dtype=bool)
        own = sure[rows, label]
        for rival in range(self.n_classes):
            beaten = own > possible[:, rival]
            if self.break_ties:
                settled = (sure[:, rival] == possible[:, rival]) & (own == possible[rows, label])
                gap = total[rows, label] - total[:, rival]
                apart = gap > (slack[rows, label] + slack[:, rival]) * ROUNDED_UP
                beaten |= settled & (own == possible[:, rival]) & apart
            else:
                beaten |= (own == possible[:, rival]) & (label < rival)
            certified &= beaten | (label == rival)
        return certified

    def shared(self) -> Shared:
        """Return the numbers of classes and pairs."""
        return (("N_DECISIONS", self.n_pairs), ("N_CLASSES", self.n_classes))

    def operations(self) -> int:
        """Return the comparisons and counts."""
        return 10 * self.n_pairs + 3 * self.n_classes
