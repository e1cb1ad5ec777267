"""The label of a binary machine: the sign of its one decision value."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.batch import Batch
from kmcompile.numeric.outward import above, below
from kmcompile.program.shared import Shared
from kmcompile.program.stages.labels.label import OneDecision


@dataclass(frozen=True, slots=True, eq=False)
class Sign(OneDecision):
    """The sign of the decision f is the label: class 1 for f > 0, class 0 for f < 0.

    Parameters
    ----------
    zero_is_positive : bool
        Whether f = 0 gives class 1, as in scikit-learn's SVC, or class 0, as in LinearSVC.
    """

    zero_is_positive: bool

    template: ClassVar[str] = "sign"
    reads_ends: ClassVar[bool] = True

    @property
    def decisions_text(self) -> str:
        """Which sign gives class 1."""
        return ">= 0 for class 1" if self.zero_is_positive else "> 0 for class 1"

    def run(self, batch: Batch) -> Batch:
        """Return the batch with label, interval and certificate."""
        decision, bound = batch.decision[:, 0], batch.bound[:, 0]
        lower, upper = below(decision - bound), above(decision + bound)
        zero = np.float32(0.0)
        positive = decision >= zero if self.zero_is_positive else decision > zero
        return replace(
            batch,
            label=positive.astype(np.int32),
            lower=lower,
            upper=upper,
            settled=(lower > zero) | (upper < zero),
        )

    def shared(self) -> Shared:
        """Return the numbers of decisions and classes, 1 and 2."""
        return (("N_DECISIONS", 1), ("N_CLASSES", 2))

    def operations(self) -> int:
        """Return the comparisons."""
        return 4
