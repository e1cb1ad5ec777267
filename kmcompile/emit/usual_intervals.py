"""The range gate's intervals of usual |x|^2, outside of which inputs are unlike the samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.program.stages import RangeGate


@dataclass(frozen=True, slots=True)
class UsualInterval:
    """An interval of |x|^2 outside of which an input is at least so unlike the samples."""

    dissimilarity: int
    least: np.float32
    largest: np.float32


def usual_intervals(early: EarlyExitsView) -> tuple[UsualInterval, ...]:
    """Return the range gate's intervals of usual |x|^2, from the inside; none without a gate.

    Of equal intervals the last one says all: few samples have such.
    """
    if not isinstance(early.gate, RangeGate):
        return ()
    found = {
        (least, largest): UsualInterval(2**k, least, largest)
        for k, (least, largest) in enumerate(early.gate.usual, start=1)
    }
    return tuple(found.values())


def n_levels(early: EarlyExitsView) -> int:
    """Return the number of these intervals, equal ones too; 0 without a gate."""
    return len(early.gate.usual) if isinstance(early.gate, RangeGate) else 0
