"""The 4:1 rule (DeCoste 2001, section 5): a proved interval that lies mostly on one side of 0."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.shared import Shared
from kmcompile.program.stages.early_exits.early_exit import EarlyExit
from kmcompile.program.stages.ends import Ends

_HALF = np.float32(0.5)
_OPERATIONS = 5


@dataclass(frozen=True, slots=True, eq=False)
class IntervalRatio(EarlyExit):
    """Answers where every proved interval is at least r times wider on one side of 0.

    Certified exits before it have proved that a decision lies between l and u. With the middle
    m = l/2 + u/2 and the half-width h = u/2 - l/2, one side of 0 is at least r times wider than the
    other exactly if |m| >= q h with q = (r - 1) / (r + 1). The label stage therefore gets the
    decision m with the half-width q h. At q = 1 only an interval without 0 decides, which a
    certified exit has answered already.

    Parameters
    ----------
    n_decisions : int
    share : float32
        q, from 0 to 1.

    References
    ----------
    .. [1] D. DeCoste, "Compiling support vector machines for efficient classification", 2001,
       section 5: with r = 4 the classification very seldom flips.
    """

    n_decisions: int
    share: Bound

    template: ClassVar[str] = "interval_ratio"
    exit: ClassVar[str | None] = "statistical"

    def __post_init__(self) -> None:
        if not 0 <= self.share <= 1:
            raise ValueError(f"share is {self.share}, must be from 0 to 1")

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with the intervals' middles, and which queries they decide."""
        middle, half = middle_and_half(batch.least, batch.most)
        batch = replace(
            batch,
            decision=middle,
            bound=self.share * half,
            operations=batch.operations + self.operations() + ends.label.operations(),
        )
        batch = ends.label.run(batch)
        return batch, batch.settled

    def operations(self) -> int:
        """Return the multiply-adds; the label's tests come on top."""
        return _OPERATIONS * self.n_decisions

    def shared(self) -> Shared:
        """Return the number of decisions."""
        return (("N_DECISIONS", self.n_decisions),)

    def needs(self) -> frozenset[str]:
        """Return the intervals, which a certified exit must have made."""
        return frozenset({"intervals"})


def middle_and_half(least: Float32Array, most: Float32Array) -> tuple[Float32Array, Float32Array]:
    """Return the middles and half-widths of intervals, each of the intervals' shape, float32."""
    return least * _HALF + most * _HALF, most * _HALF - least * _HALF
