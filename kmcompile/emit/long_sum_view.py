"""The C functions of a replay in integers of a program in float32."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcompile.emit.environment import render
from kmcompile.numeric.scalar import exp2_long
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.sums.long_pairs import LongPairs
from kmcompile.program.stages.sums.long_sum import LongSum
from kmcompile.steps.integers import SHIFTER


@dataclass(frozen=True, slots=True)
class LongSumView:
    """Values for templates/replay/long_*.c.j2 and fine_sum.c.j2.

    Parameters
    ----------
    cross_shift : int
        By which the sum of products of high and low parts is shifted.
    part, parts : float
        A part of an input, and how many of them 1 has.
    most : float
        At least every scaled number of a table that is not damaged.
    """

    cross_shift: int = LongSum.part_bits - 1
    part: float = 2.0**LongSum.part_bits
    parts: float = 2.0**-LongSum.part_bits
    shifter: np.float64 = SHIFTER
    most: float = 2.0**30
    sparse: bool = False


def long_sum_sections(replay: Replay, names: Mapping[str, Any]) -> list[str]:
    """Return the function that parts an input, then those of distances and of the sum."""
    assert isinstance(replay.sum, LongSum)
    own = {"stage": replay, "view": LongSumView(), "long": replay.sum.long, **names}
    own["of_floats"] = True
    if isinstance(replay.sum, LongPairs):
        own["longest"] = replay.sum.longest_list
    return [
        render("replay/long_input.c.j2", **own),
        render("replay/long_distance.c.j2", **own),
        render("replay/exp2_long.c.j2", scalar=exp2_long, **names),
        render(f"replay/{replay.sum.template}.c.j2", **own),
    ]
