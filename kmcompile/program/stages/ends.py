"""The last two stages of a program, its sum and its label, which the early exits use."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.numeric.arrays import Positive
from kmcompile.program.stages.labels.label import Label
from kmcompile.program.stages.stage import Stage
from kmcompile.program.stages.sums.sum import Sum


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """The last two stages of a program.

    Parameters
    ----------
    exact : Sum
        The sum after the last early exit.
    label : Label
        Turns decisions and bounds into a label, and says whether every decision within its bound
        gives this label.
    float_weight : int
        Cost of a float32 operation in operations of the exact sum; 1 if the sum is in float32.
    """

    exact: Sum
    label: Label
    float_weight: Positive = 1

    @property
    def in_integers(self) -> bool:
        """Whether the inputs are integer codes."""
        return self.exact.takes_codes

    def weight(self, stage: Stage) -> int:
        """Return the cost of a stage's operation in operations of the exact sum."""
        return 1 if stage.in_integers else self.float_weight
