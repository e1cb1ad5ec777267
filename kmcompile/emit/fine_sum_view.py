"""The view of an integer format's replay, which sums fine codes, and its C functions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcompile.emit.environment import render
from kmcompile.numeric.scalar import exp2_long
from kmcompile.numeric.scalar.functions import EXP_NEGATIVE
from kmcompile.program.stages import CodeTable
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.sums.fine_sum import FineSum
from kmcompile.program.stages.sums.sparse_list import TURN
from kmcompile.steps import Integers, Scale
from kmcompile.steps.integers import SHIFTER


@dataclass(frozen=True, slots=True)
class FineSumView:
    """Values for templates/replay/fine_*.c.j2.

    Parameters
    ----------
    scale : Scale
    step : Integers
    most : int
        The largest fine code of an input.
    per_code, per_coefficient : int
        Number of fine units in one code of the format, and in one coefficient.
    code_i : str
        The i-th code of the table in C.
    n_padded : int
        Number of fine codes that distances read.
    run, block_run, block_codes : int
        Number of codes of a vector that are stored together, of those of all lanes, and of a block.
    turn, n_entries : int
        Number of entries of a sparse list by which its end is counted, and number in all lists.
    pads : bool
        Whether there are fewer codes of the input than distances read.
    pairs_bytes : bool
        Whether each four codes are stored in another order.
    """

    scale: Scale
    step: Integers
    most: int
    per_code: int
    per_coefficient: int
    code_i: str
    n_padded: int
    run: int
    block_run: int
    block_codes: int
    turn: int
    n_entries: int
    sparse: bool
    picks_columns: bool
    pads: bool
    pairs_bytes: bool
    shifter: np.float64 = SHIFTER


def fine_sum_view(name: str, replay: Replay, codes: CodeTable) -> FineSumView:
    """Return the view; `name` is the program's prefix."""
    stage = replay.sum
    scale, step = replay.prepare.steps
    assert isinstance(stage, FineSum)
    assert isinstance(scale, Scale) and isinstance(step, Integers)
    return FineSumView(
        scale=scale,
        step=step,
        most=int(step.most),
        per_code=1 << stage.low_bits,
        per_coefficient=1 << stage.coefficient_bits,
        code_i=f"{name}_vectors.code[i]" if codes.in_fours else f"{name}_vectors[i]",
        n_padded=codes.n_padded,
        run=codes.run,
        block_run=codes.run * codes.lanes,
        block_codes=codes.n_padded * codes.lanes,
        turn=TURN,
        n_entries=codes.n_turns * TURN if codes.sparse else 0,
        sparse=codes.sparse,
        picks_columns=codes.picks_columns,
        pads=codes.n_padded > codes.n_used,
        pairs_bytes=codes.pairs_bytes,
    )


def fine_sum_sections(replay: Replay, view: FineSumView, names: Mapping[str, Any]) -> list[str]:
    """Return the functions of input, distances and sum."""
    assert isinstance(replay.sum, FineSum)
    own = {"stage": replay, "view": view, "long": replay.sum.long, "of_floats": False, **names}
    return [
        render("steps/integers.c.j2", **own),
        render("replay/fine_input.c.j2", **own),
        render("replay/fine_distance.c.j2", **own),
        _exponential(replay.sum, names),
        render("replay/fine_sum.c.j2", **own),
    ]


def _exponential(stage: FineSum, names: Mapping[str, Any]) -> str:
    """Return the functions of the exponential: of doubles, or of integers."""
    if stage.long is not None:
        return render("replay/exp2_long.c.j2", scalar=exp2_long, **names)
    exponential = EXP_NEGATIVE[np.float64]
    return render(f"scalar/{exponential.template}.c.j2", scalar=exponential.view, **names)
