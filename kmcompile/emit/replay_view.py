"""The C functions of the replay in float64, each after the functions that it calls."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcompile.emit.environment import DOUBLE, render
from kmcompile.emit.fine_sum_view import (
    FineSumView,
    fine_sum_sections,
    fine_sum_view,
)
from kmcompile.emit.long_sum_view import long_sum_sections
from kmcompile.emit.pair_sum_view import all_pairs_sections
from kmcompile.emit.prepare_view import PrepareView, prepare_sections, prepare_view
from kmcompile.emit.words import Words
from kmcompile.numeric.outward import ABSOLUTE, RELATIVE
from kmcompile.program.program import Program
from kmcompile.program.stages import CodeTable, ExactSum, PairSum, VectorlessSum
from kmcompile.program.stages.labels.vote import ROUNDED_UP
from kmcompile.program.stages.replay import Replay
from kmcompile.program.stages.sums.long_sum import LongSum
from kmcompile.program.stages.sums.vector_totals import VectorTotals

_MOST_WRITTEN_LANES = 4


@dataclass(frozen=True, slots=True)
class ReplayView:
    """Values for the templates of the replay.

    Parameters
    ----------
    stage : Replay
    prepared : PrepareView or None
        The steps in double; None if the input is converted to fine codes.
    fine : FineSumView or None
        The sum of fine codes, in an integer format only.
    """

    stage: Replay
    prepared: PrepareView | None
    fine: FineSumView | None


def replay_view(program: Program, stage: Replay) -> ReplayView:
    """Return the view of a program's replay."""
    if stage.sum.takes_fine_codes:
        assert isinstance(program.codes, CodeTable)
        return ReplayView(stage, None, fine_sum_view(program.name, stage, program.codes))
    return ReplayView(stage, prepare_view(stage.prepare, converts=True), None)


def replay_sections(base: Mapping[str, str], view: ReplayView, words: Words) -> list[str]:
    """Return the functions of the replay, which stand after those of the exact sum."""
    stage = view.stage
    name = base["name"]
    names: dict[str, Any] = {**base, "name": f"{name}_replay", **DOUBLE}
    names["single"] = lambda text: f"(float){text}"
    names["down"] = lambda text: f"{name}_replay_below({text})"
    names["up"] = lambda text: f"{name}_replay_above({text})"
    own = {"stage": stage, "view": view, "rounds": view.fine is not None, **names}
    own["of_floats"] = isinstance(stage.sum, LongSum)
    sections = [render("replay/types.c.j2", relative=RELATIVE, absolute=ABSOLUTE, **own)]
    takes_root = isinstance(stage.sum, VectorTotals) and stage.sum.kernel.needs_square_root
    if view.prepared is None or view.prepared.needs_square_root or takes_root:
        sections.append(render("scalar/square_root_double.c.j2", **names))
    if view.fine is not None:
        sections += fine_sum_sections(stage, view.fine, names)
    elif view.prepared is not None:
        of_table = base["of_table"]
        steps = prepare_sections(names["name"], stage.prepare, view.prepared, of_table, DOUBLE)
        own_prepare = render("replay/prepare.c.j2", **own)
        if isinstance(stage.sum, LongSum):
            first, *others = long_sum_sections(stage, names)
            sections += [*steps, first, own_prepare, *others]
        else:
            sections += [*steps, own_prepare, *_sum_sections(stage, own, names)]
    label = {**own, "stage": stage.label, "rounded_up": np.float64(ROUNDED_UP)}
    sections.append(render(f"stages/{stage.label.template}.c.j2", **label))
    own |= {"answer": words.answer, "is_regression": stage.label.is_value}
    summed = stage.sum.decision_function
    functions: dict[str, Any] = {"sum_function": summed, "label_function": stage.label.name}
    functions["may_fail"] = stage.sum.may_fail
    has_result = not stage.label.is_value or stage.label.tolerance is not None
    functions["discards"] = "(void)" if has_result else ""
    sections.append(render("stages/replay.c.j2", **functions, **own))
    return sections


def _written_lanes(stage: ExactSum | PairSum) -> range:
    """Return the lanes if each has a line of its own, so that its total stays in a register."""
    return range(stage.lanes if stage.lanes <= _MOST_WRITTEN_LANES else 0)


def _sum_sections(stage: Replay, own: dict[str, Any], names: dict[str, Any]) -> list[str]:
    """Return the functions of a sum that uses double throughout."""
    if isinstance(stage.sum, VectorlessSum):
        weights = [render("replay/weights.c.j2", **own)] if stage.sum.shared_table().size else []
        template = f"stages/{stage.sum.template}.c.j2"
        return [*weights, render(template, **{**own, "stage": stage.sum})]
    assert isinstance(stage.sum, ExactSum | PairSum)
    kernel = stage.sum.kernel
    context = {"has_term": True, "has_value": False, "lanes": (), **kernel.context(), **names}
    more: dict[str, Any] = {**own, "stage": stage.sum, "finds_vectors": False}
    more |= {"totals": "block_totals(block, input->x, total)"}
    sections = [
        *(
            render(f"scalar/{template}.c.j2", scalar=scalar, **names)
            for template, scalar in kernel.scalars()
        ),
        render(f"kernels/{kernel.name}.c.j2", kernel=kernel, **context),
        render("replay/vector_totals.c.j2", lanes=_written_lanes(stage.sum), **own),
    ]
    if isinstance(stage.sum, PairSum):
        more["coefficient"] = f"{names['name']}_coefficient(entry)"
        return [*sections, *all_pairs_sections(stage.sum, more)]
    return [
        *sections,
        render("replay/add_block.c.j2", **own),
        render("stages/exact_sum.c.j2", codes=None, reuses_kernels=False, keeps_factors="", **more),
    ]
