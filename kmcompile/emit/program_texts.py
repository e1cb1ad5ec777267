"""Texts on a program for its C: its stages, what its decisions mean, what proves it."""

from __future__ import annotations

from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.literals import unsigned_literal
from kmcompile.emit.words import words_of
from kmcompile.program.program import Program


def stage_lines(program: Program) -> tuple[str, ...]:
    """Return the lines that define the stages' numbers."""
    upper = program.name.upper()
    return tuple(
        f"#define {upper}_STAGE_{stage.name.upper()} {unsigned_literal(number)}"
        for number, stage in enumerate(program.exit_stages)
    )


def stages_text(program: Program) -> str:
    """Return a sentence that names the stages, and what the replay is for."""
    text = f"The stages, in order: {', '.join(stage.name for stage in program.stages)}."
    if program.replay is not None:
        words = words_of(program)
        text += f" Where they leave {words.left_open}, the replay computes the sums again in "
        text += f"{words.precise}."
    return text


def proved_by(early: EarlyExitsView) -> str:
    """Return the name of the last certified exit if statistical ones are behind it, or ""."""
    proofs = [stage for stage in early.stages if not stage.is_calibrated]
    return proofs[-1].name if proofs and proofs[-1] is not early.stages[-1] else ""
