"""Ends: how a program ends, which its early exits share."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.program.stages.exact_sum import ExactSum
from kmcompile.program.stages.fixed_sum import FixedSum
from kmcompile.program.stages.linear_sum import LinearSum
from kmcompile.program.stages.pair_sum import PairSum
from kmcompile.program.stages.stage import Always, Stage


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """The last two stages of a program.

    Parameters
    ----------
    exact : ExactSum, PairSum, FixedSum or LinearSum
        The sum after the last early exit.
    label : Always
        Makes a label of decisions and bounds, and says whether it is the same for every
        decision within its bound.
    float_weight : int
        How many operations of the exact sum one of float32 counts for; 1 where that is in float32.
    """

    exact: ExactSum | PairSum | FixedSum | LinearSum
    label: Always
    float_weight: int = 1

    @property
    def in_integers(self) -> bool:
        """Whether the inputs are integer codes."""
        return getattr(self.exact, "codes", None) is not None

    def weight(self, stage: Stage) -> int:
        """Return how many operations of the exact sum one of a stage counts for."""
        return 1 if stage.in_integers else self.float_weight
