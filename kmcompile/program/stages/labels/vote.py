"""The label of a one-vs-one machine: votes of all pairs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, Float64Array, RealArray, RealBound
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.outward import above, below
from kmcompile.program.layout import Member
from kmcompile.program.shared import Shared
from kmcompile.program.stages.labels.label import Label

ROUNDED_UP = np.float32(1.0 + 2.0**-10)
"""Covers the roundings in the sums of the slack itself."""


@dataclass(frozen=True, slots=True, eq=False)
class Vote(Label):
    """Every pair (i, j), i < j, votes for i if f > 0 and for j otherwise; most votes win.

    A tie goes to the lower index, or with `break_ties` to the larger sum of confidences (and a
    pair with f = 0 then votes for i), as scikit-learn does. The interval is that of the pair
    with the smallest |f| among those that the winner won.

    The label is settled if it is the same under every outcome of the pairs whose interval
    holds 0: the winner's sure votes beat the possible votes of every other
    class. With `break_ties` it is also settled if all votes are sure and the intervals of the
    summed confidences decide the tie.

    Parameters
    ----------
    n_classes : int
    break_ties : bool
    tie_error : float32 or float64
        Bound on the relative error of a sum of confidences: twice gamma_(n_classes), rounded up.
    """

    n_classes: int
    break_ties: bool = field()
    tie_error: RealBound

    template: ClassVar[str] = "vote"
    by_votes: ClassVar[bool] = True
    needs_magnitude: ClassVar[bool] = True
    decisions_text: ClassVar[str] = "pairs (0, 1), (0, 2), ...: > 0 for the first"
    interval_text: ClassVar[str] = "the decision of the closest pair that the winner won"

    @property
    def n_pairs(self) -> int:
        """Pairs of classes."""
        return self.n_classes * (self.n_classes - 1) // 2

    def run(self, batch: Batch) -> Batch:
        """Return the batch with label, interval and certificate."""
        lowers, uppers = batch.decision - batch.bound, batch.decision + batch.bound
        zero = np.float32(0.0)
        for_i = batch.decision >= zero if self.break_ties else batch.decision > zero
        votes = self._counted(for_i, ~for_i)
        sure = self._counted(lowers > zero, uppers < zero)
        # Written so that a NaN bound excludes neither class.
        possible = self._counted(~(uppers < zero), ~(lowers > zero))
        total, slack = self._confidences(batch)
        label = self._winner(votes, total)
        lower, upper = self.interval_at(batch, label)
        return replace(
            batch,
            label=label,
            lower=lower,
            upper=upper,
            settled=self._settled(label, votes, sure, possible, total, slack),
        )

    def _counted(self, for_first: np.ndarray, for_second: np.ndarray) -> np.ndarray:
        """Return the votes of each class, shape (n, n_classes), int32, given those of each pair."""
        # Products of float32, because those are fast; sums of votes are small integers.
        classes = np.eye(self.n_classes, dtype=np.float32)
        first, second = np.array(self.pairs()).T
        votes = for_first.astype(np.float32) @ classes[first]
        votes += for_second.astype(np.float32) @ classes[second]
        counted: np.ndarray = votes.astype(np.int32)
        return counted

    def _confidences(self, batch: Batch) -> tuple[RealArray, RealArray]:
        """Return the summed confidences of each class and their slack; 0 without `break_ties`."""
        total = np.zeros((len(batch.x), self.n_classes), dtype=batch.decision.dtype)
        slack = np.zeros_like(total)
        if not self.break_ties:
            return total, slack
        for p, (i, j) in enumerate(self.pairs()):
            decision = batch.decision[:, p]
            total[:, i] += decision
            total[:, j] -= decision
            uncertainty = batch.bound[:, p] + np.abs(decision) * self.tie_error
            slack[:, i] += uncertainty
            slack[:, j] += uncertainty
        return total, slack

    def pairs(self) -> list[tuple[int, int]]:
        """Return the classes of each decision."""
        return [(i, j) for i in range(self.n_classes) for j in range(i + 1, self.n_classes)]

    def margins(self, decisions: Float64Array, labels: np.ndarray) -> tuple[Float64Array, str]:
        """Return the smallest magnitude among the pairs of each label."""
        own = (np.array(self.pairs())[None, :, :] == labels[:, None, None]).any(axis=2)
        margins = np.where(own, np.abs(decisions), np.inf)
        return margins.min(axis=1), "smallest exact |f| of the label's pairs"

    def rests_on(self) -> list[list[int]]:
        """Return the pairs that each class is in."""
        pairs = self.pairs()
        return [[p for p, pair in enumerate(pairs) if c in pair] for c in range(self.n_classes)]

    def asked(self, batch: Batch) -> list[tuple[int, NDArray[np.bool_]]]:
        """Return each pair with the queries whose label has won it."""
        f, label = batch.decision, batch.label
        pairs = enumerate(self.pairs())
        return [(p, np.where(f[:, p] > 0, label == i, label == j)) for p, (i, j) in pairs]

    def members(self, real: str) -> tuple[Member, ...]:
        """Return the sums that break ties."""
        if not self.break_ties:
            return ()
        return (
            Member(real, "confidence", self.n_classes, "sum of decisions, breaks ties"),
            Member(real, "slack", self.n_classes, ">= its error"),
        )

    def counters(self) -> tuple[Member, ...]:
        """Return the counters of votes."""
        return (
            Member("uint32_t", "votes", self.n_classes, "of each class"),
            Member("uint32_t", "sure", self.n_classes, "those that no rounding can take away"),
            Member("uint32_t", "possible", self.n_classes, "those that rounding might give"),
        )

    def _winner(self, votes: np.ndarray, total: RealArray) -> np.ndarray:
        if not self.break_ties:
            winner = votes.argmax(axis=1)
        else:
            tied = votes == votes.max(axis=1, keepdims=True)
            winner = np.where(tied, total, -np.inf).argmax(axis=1)
        as_label: np.ndarray = winner.astype(np.int32)
        return as_label

    def interval_at(self, batch: Batch, label: np.ndarray) -> tuple[Float32Array, Float32Array]:
        """Return the interval of the closest pair that each label has won; 0 if it won none."""
        decision = batch.decision
        lowers, uppers = decision - batch.bound, decision + batch.bound
        for_i = decision >= 0 if self.break_ties else decision > 0
        first, second = np.array(self.pairs()).T
        own = np.where(for_i, first, second) == label[:, None]
        margin = np.abs(decision)
        known = own & (margin < np.inf)  # a NaN is no margin
        closest = np.where(known, margin, np.inf).argmin(axis=1)  # the first of equal ones
        rows, some = np.arange(len(label)), known.any(axis=1)
        lower = np.where(some, below(lowers[rows, closest]), np.float32(0.0))
        upper = np.where(some, above(uppers[rows, closest]), np.float32(0.0))
        return lower, upper

    def _settled(
        self,
        label: np.ndarray,
        votes: np.ndarray,
        sure: np.ndarray,
        possible: np.ndarray,
        total: RealArray,
        slack: RealArray,
    ) -> np.ndarray:
        rows = np.arange(len(label))
        settled = np.ones(len(label), dtype=bool)
        own = sure[rows, label]
        for rival in range(self.n_classes):
            beaten = own > possible[:, rival]
            if self.break_ties:
                decided = (sure[:, rival] == possible[:, rival]) & (own == possible[rows, label])
                gap = total[rows, label] - total[:, rival]
                with np.errstate(over="ignore"):  # where nothing is known, the sum is infinite
                    apart = gap > (slack[rows, label] + slack[:, rival]) * ROUNDED_UP
                beaten |= decided & (own == possible[:, rival]) & apart
            else:
                beaten |= (own == possible[:, rival]) & (label < rival)
            settled &= beaten | (label == rival)
        return settled

    def shared(self) -> Shared:
        """Return the numbers of classes and pairs."""
        return (("N_DECISIONS", self.n_pairs), ("N_CLASSES", self.n_classes))

    def operations(self) -> int:
        """Return the comparisons and counts."""
        return 10 * self.n_pairs + 3 * self.n_classes
