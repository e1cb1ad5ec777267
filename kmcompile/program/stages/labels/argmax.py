"""The label of a one-vs-rest machine: the class with the largest decision value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.outward import above, below
from kmcompile.program.shared import Shared
from kmcompile.program.stages.labels.label import Label


@dataclass(frozen=True, slots=True, eq=False)
class Argmax(Label):
    """The class with the largest decision value wins; of equal values the first or the last.

    The label is settled if the winner's lower bound is above every other class's upper bound.

    Parameters
    ----------
    n_classes : int
    last_of_equal : bool
        Whether the last of equal values wins, as in scikit-learn's OneVsRestClassifier before 1.8,
        or the first, as in its linear classifiers.
    """

    n_classes: int
    last_of_equal: bool = False

    template: ClassVar[str] = "argmax"
    by_largest: ClassVar[bool] = True
    decisions_text: ClassVar[str] = "one a class"
    interval_text: ClassVar[str] = "the winner's decision"

    def run(self, batch: Batch) -> Batch:
        """Return the batch with label, the winner's interval and certificate."""
        label = batch.decision.argmax(axis=1)
        if self.last_of_equal:
            label = self.n_classes - 1 - batch.decision[:, ::-1].argmax(axis=1)
        lowers, others = batch.decision - batch.bound, batch.decision + batch.bound
        rows = np.arange(len(label))
        others[rows, label] = -np.inf
        lower, upper = self.interval_at(batch, label)
        return replace(
            batch,
            label=label.astype(np.int32),
            lower=lower,
            upper=upper,
            settled=(others < lowers[rows, label][:, None]).all(axis=1),
        )

    def interval_at(self, batch: Batch, label: np.ndarray) -> tuple[Float32Array, Float32Array]:
        """Return the intervals of the decisions of labels."""
        rows = np.arange(len(label))
        decision, bound = batch.decision[rows, label], batch.bound[rows, label]
        return below(decision - bound), above(decision + bound)

    def margins(self, decisions: Float64Array, labels: np.ndarray) -> tuple[Float64Array, str]:
        """Return the lead of the largest decision."""
        two = np.partition(decisions, -2, axis=1)[:, -2:]
        return two[:, 1] - two[:, 0], "lead of the largest decision value"

    def shared(self) -> Shared:
        """Return the number of classes, each of which has a decision."""
        return (("N_DECISIONS", self.n_classes), ("N_CLASSES", self.n_classes))

    def operations(self) -> int:
        """Return the comparisons."""
        return 4 * self.n_classes
