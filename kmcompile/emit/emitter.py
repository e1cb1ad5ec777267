"""Program -> C: renders the templates and puts the parts together."""

from __future__ import annotations

from typing import Any

from kmcompile.emit.environment import environment
from kmcompile.emit.prepare_view import PrepareView, prepare_view
from kmcompile.emit.sum_view import sum_view
from kmcompile.emit.view import (
    WORKSPACE_ELEMENT_BYTES,
    ModelView,
    model_view,
    workspace_members,
)
from kmcompile.ir.program import Program
from kmcompile.kernels.float32 import Float32Kernel
from kmcompile.scalar import square_root
from kmcompile.stages import ExactSum, Prepare, Vote
from kmcompile.stages.vote import ROUNDED_UP
from kmcompile.target import Target


def emit(program: Program, target: Target, command: str, description: str) -> dict[str, str]:
    """Return the emitted files by name: model, header, harness and CMakeLists.txt.

    Parameters
    ----------
    program : Program
    target : Target
        The one that the program was lowered for.
    command : str
        The canonical command, for line 1 of the C.
    description : str
        One line on the model, for its comment.
    """
    prepare = program.stages[0]
    assert isinstance(prepare, Prepare)
    prepared = prepare_view(program.name, prepare)
    view = model_view(program, command, description, prepared.buffers)
    sections = _sections(program, target, prepared, view)
    name = program.name
    return {
        f"{name}.h": _render("model.h.j2", view=view),
        f"{name}.c": _render("model.c.j2", view=view, sections="\n".join(sections)),
        f"{name}_harness.c": _render("harness.c.j2", view=view),
        "CMakeLists.txt": _render("CMakeLists.txt.j2", view=view),
    }


def workspace_bytes(program: Program) -> int:
    """Return the bytes of the workspace, which hold for every C ABI: only 4-byte members."""
    prepare = program.stages[0]
    assert isinstance(prepare, Prepare)
    buffers = prepare_view(program.name, prepare).buffers
    return sum(WORKSPACE_ELEMENT_BYTES * m.length for m in workspace_members(program, buffers))


def _sections(
    program: Program, target: Target, prepared: PrepareView, view: ModelView
) -> list[str]:
    """Return the functions of the model file, each after what it calls."""
    names: dict[str, Any] = {"name": program.name, "upper": program.name.upper()}
    sections = []
    if prepared.needs_square_root:
        sections.append(_render("scalar/square_root.c.j2", scalar=square_root.VIEW, **names))
    prepare, summed, label = program.stages
    sections.append(_render("stages/prepare.c.j2", stage=prepare, view=prepared, **names))
    if isinstance(summed, ExactSum):
        sections += _kernel_sections(summed.kernel, names)
        names_and_view = {**names, "view": sum_view(summed, target)}
        sections.append(_render("exact_sum/block_totals.c.j2", **names_and_view))
    else:
        names_and_view = {**names}
    sections.append(_render(f"stages/{summed.name}.c.j2", stage=summed, **names_and_view))
    more = {"rounded_up": ROUNDED_UP} if isinstance(label, Vote) else {}
    sections.append(_render(f"stages/{label.name}.c.j2", stage=label, **more, **names))
    sections.append(_render("entry.c.j2", view=view))
    sections.append(_render("self_test/tables.c.j2", view=view))
    sections.append(_render("self_test/steps.c.j2", view=view))
    return [section.strip("\n") + "\n" for section in sections]


def _kernel_sections(kernel: Float32Kernel, names: dict[str, str]) -> list[str]:
    """Return the functions that a kernel calls, then its own."""
    sections = [
        _render(f"scalar/{template}.c.j2", scalar=scalar, **names)
        for template, scalar in kernel.scalars()
    ]
    own = _render(f"kernels/{kernel.name}.c.j2", kernel=kernel, **kernel.context(), **names)
    return [*sections, own]


def _render(template: str, **context: Any) -> str:
    text = environment().get_template(template).render(**context)
    return text.lstrip("\n")
