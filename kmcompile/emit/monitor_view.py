"""The view of the monitor: its function, and what the entries and the header say of it."""

from __future__ import annotations

import textwrap
from types import SimpleNamespace

from kmcompile.emit.header_text import COMMENT_COLUMNS
from kmcompile.emit.literals import unsigned_literal
from kmcompile.program.program import Program
from kmcompile.program.stages import Monitor
from kmcompile.program.stages.input.monitor import MONITOR_CONFIDENCE


def monitor_view(program: Program) -> SimpleNamespace | None:
    """Return what the C says and calls of a program's monitor; None without one."""
    stage = program.monitor
    if stage is None:
        return None
    text = (
        "false: x is unlike the samples. Of inputs like them it is false for a share of at most "
        f"{stage.share:.3g}, with a confidence of {MONITOR_CONFIDENCE:g}. No answer depends on it"
    )
    read = "x" if program.codes is None else "input.code"
    return SimpleNamespace(
        stage=stage,
        place=_place(stage),  # of the feature that is read k-th
        # Asks the monitor about the input of an entry.
        call=f"{program.name}_monitor({read})",
        # Comment on `in_range`.
        lines=tuple(textwrap.wrap(text, COMMENT_COLUMNS - 28, break_on_hyphens=False)),
    )


def _place(stage: Monitor) -> str:
    first = f"{unsigned_literal(stage.first)} + " if stage.first else ""
    step = "k" if stage.step == 1 else f"(k * {unsigned_literal(stage.step)})"
    return first + step
