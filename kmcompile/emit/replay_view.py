"""The functions of the replay in float64, each after what it calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from kmcompile.emit.environment import DOUBLE, render
from kmcompile.emit.members import Member, confidence_members, sum_members, vote_members
from kmcompile.emit.prepare_view import PrepareView, prepare_view
from kmcompile.scalar import square_root_double
from kmcompile.stages import ExactSum
from kmcompile.stages.outward import ABSOLUTE, RELATIVE
from kmcompile.stages.replay import Replay
from kmcompile.stages.vote import ROUNDED_UP


@dataclass(frozen=True, slots=True)
class ReplayView:
    """What the templates of the replay need."""

    stage: Replay
    prepared: PrepareView
    members: tuple[Member, ...]

    @property
    def workspace_bytes(self) -> int:
        """The bytes of the members, filled up to whole doubles."""
        return -(-sum(member.n_bytes for member in self.members) // 8) * 8


def replay_view(name: str, stage: Replay) -> ReplayView:
    """Return the view; `name` is the program's prefix."""
    prepared = prepare_view(f"{name}_replay", stage.prepare, DOUBLE, converts=True)
    members = [Member("double", n, length, "the prepared input") for n, length in prepared.buffers]
    members += sum_members(stage.sum, "double")
    members += confidence_members(stage.label, "double")
    members += vote_members(stage.label)
    return ReplayView(stage, prepared, tuple(members))


def replay_sections(name: str, view: ReplayView) -> list[str]:
    """Return the functions of the replay; they stand after those of the exact sum."""
    stage = view.stage
    names: dict[str, Any] = {"name": f"{name}_replay", "base": name, "upper": name.upper()}
    names |= DOUBLE
    names["down"] = lambda text: f"{name}_replay_below({text})"
    names["up"] = lambda text: f"{name}_replay_above({text})"
    own = {"stage": stage, "view": view, **names}
    sections = [render("replay/types.c.j2", relative=RELATIVE, absolute=ABSOLUTE, **names)]
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
        more: dict[str, Any] = {"reuses_kernels": False, "x": "input->x"}
        sections.append(render("stages/exact_sum.c.j2", **{**own, "stage": stage.sum}, **more))
    else:
        sections.append(render("replay/weights.c.j2", **own))
        sections.append(render("stages/linear_sum.c.j2", **{**own, "stage": stage.sum}))
    label = {**own, "stage": stage.label, "rounded_up": np.float64(ROUNDED_UP)}
    sections.append(render(f"stages/{stage.label.template}.c.j2", **label))
    functions = {"sum_function": stage.sum.name, "label_function": stage.label.name}
    sections.append(render("stages/replay.c.j2", **functions, **own))
    return sections
