"""Ends: how a program ends, which its early exits share."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # the stages import this package
    from kmcompile.stages.exact_sum import ExactSum
    from kmcompile.stages.fixed_sum import FixedSum
    from kmcompile.stages.linear_sum import LinearSum
    from kmcompile.stages.stage import Always


@dataclass(frozen=True, slots=True, eq=False)
class Ends:
    """The last two stages of a program.

    Parameters
    ----------
    exact : ExactSum, FixedSum or LinearSum
        The sum after the last early exit.
    label : Always
        Makes a label of decisions and bounds, and says whether it is the same for every
        decision within its bound.
    """

    exact: ExactSum | FixedSum | LinearSum
    label: Always
