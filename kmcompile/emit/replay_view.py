"""The functions of the replay in float64, each after what it calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kmcompile.emit.environment import DOUBLE, render
from kmcompile.emit.prepare_view import PrepareView, prepare_view
from kmcompile.scalar import square_root_double
from kmcompile.stages import ExactSum
from kmcompile.stages.replay import ROUNDS_UP, UNDERFLOWS, WIDENS, Replay


@dataclass(frozen=True, slots=True)
class ReplayMember:
    """An array of float64 in the replay's workspace."""

    name: str
    length: int
    meaning: str


@dataclass(frozen=True, slots=True)
class ReplayView:
    """What the templates of the replay need."""

    stage: Replay
    prepared: PrepareView
    members: tuple[ReplayMember, ...]


def replay_view(name: str, stage: Replay) -> ReplayView:
    """Return the view; `name` is the program's prefix."""
    prepared = prepare_view(f"{name}_replay", stage.prepare, DOUBLE, converts=True)
    n_decisions = stage.sum.n_decisions
    members = [ReplayMember(n, length, "the prepared input") for n, length in prepared.buffers]
    members.append(ReplayMember("decision", n_decisions, "decision values"))
    members.append(ReplayMember("bound", n_decisions, ">= their errors"))
    if isinstance(stage.sum, ExactSum):
        rows = stage.sum.n_rows
        members.append(ReplayMember("row_sum", rows, "sums of one group of vectors"))
        members.append(ReplayMember("row_error", rows, "and of their errors"))
    return ReplayView(stage, prepared, tuple(members))


def replay_sections(name: str, view: ReplayView) -> list[str]:
    """Return the functions of the replay; they stand after those of the exact sum."""
    stage = view.stage
    names: dict[str, Any] = {"name": f"{name}_replay", "base": name, "upper": name.upper()}
    names |= DOUBLE
    own = {"stage": stage, "view": view, **names}
    sections = [render("replay/types.c.j2", **names)]
    if view.prepared.needs_square_root:
        scalar = square_root_double.VIEW
        sections.append(render("scalar/square_root_double.c.j2", scalar=scalar, **names))
    sections += [*view.prepared.sections, render("replay/prepare.c.j2", **own)]
    if isinstance(stage.sum, ExactSum):
        kernel = stage.sum.kernel
        sections += [
            render(f"scalar/{template}.c.j2", scalar=scalar, **names)
            for template, scalar in kernel.scalars()
        ]
        context = {"has_term": True, **kernel.context(), **names}
        sections.append(render(f"kernels/{kernel.name}.c.j2", kernel=kernel, **context))
        sections.append(render("replay/blocks.c.j2", **own))
        more = {"replays": True, "reuses_kernels": False, "x": "input->x"}
        sections.append(render("stages/exact_sum.c.j2", **{**own, "stage": stage.sum}, **more))
    else:
        sections.append(render("replay/weights.c.j2", **own))
        sections.append(
            render("stages/linear_sum.c.j2", replays=True, **{**own, "stage": stage.sum})
        )
    widening = {"widens": WIDENS, "rounds_up": ROUNDS_UP, "underflows": UNDERFLOWS}
    sections.append(render("stages/replay.c.j2", sum_function=stage.sum.name, **widening, **own))
    return sections
