"""The C of an input tolerance: what stands behind the sums."""

from __future__ import annotations

from typing import Any

from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.environment import render
from kmcompile.emit.totals_view import BlockFunctions
from kmcompile.program.stages import ExactSum, Vote
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.input_tolerance import InputTolerance


def box_arguments(box: InputTolerance | None) -> str:
    """Return the arguments of the label over a box; "" without an input tolerance."""
    if box is None:
        return ""
    return "workspace, result" if box.slopes is None else "workspace, input, result"


def box_sections(
    box: InputTolerance,
    ends: Ends,
    functions: BlockFunctions,
    early: EarlyExitsView,
    names: dict[str, str],
) -> list[str]:
    """Return the functions of the box, with those of proved intervals if no exit brings them."""
    label = ends.label
    is_binary = label.template == "sign"
    context: dict[str, Any] = {"label_function": label.template, "is_binary": is_binary, **names}
    sections = []
    if not early.proves:
        middles = {"answer": "result", "is_regression": False, "keeps_middles": False}
        sections.append(render("early_exits/middle.c.j2", **names))
        sections.append(render("early_exits/proved.c.j2", **middles, **context))
    if box.slopes is not None:
        assert isinstance(ends.exact, ExactSum)
        own: dict[str, Any] = {"slopes": box.slopes, "numbers": box.slopes.constants()}
        own["most_blocks"] = box.most_blocks(ends)
        view = functions.of_exact_sum
        sections.append(render("input_tolerance/slopes.c.j2", view=view, **own, **names))
    context |= {"is_vote": isinstance(label, Vote), "starts_here": not early.proves}
    sections.append(render("stages/input_tolerance.c.j2", box=box, **context))
    return sections
