"""The view of a program's telemetry: the members of its struct, with their places."""

from __future__ import annotations

from types import SimpleNamespace

from kmcompile.emit.workspace_lines import with_meanings
from kmcompile.program.program import Program
from kmcompile.program.results import Status
from kmcompile.program.telemetry import (
    NONE_YET,
    WORD_BYTES,
    Counter,
    counters,
    n_words,
    places,
    tells_unlikeness,
    words,
)


def telemetry_view(program: Program) -> SimpleNamespace | None:
    """Return the members of a program's telemetry with their places; None without it."""
    if not program.telemetry:
        return None
    upper = program.name.upper()
    placed = list(zip(counters(program), places(program).values(), strict=True))
    return SimpleNamespace(
        # `length`: the macro of the number of elements without the prefix, or "".
        members=tuple(
            SimpleNamespace(
                name=one.name,
                offset=WORD_BYTES * place,
                length=one.length,
                is_float=one.is_float,
                is_margin=one.name == "smallest_margin",
            )
            for one, place in placed
        ),
        lines=with_meanings(
            (_declaration(one, upper), f"{WORD_BYTES * place}: {one.meaning}")
            for one, place in placed
        ),
        n_statuses=len(Status),
        n_words=n_words(program),
        recorded_words=2 * n_words(program),
        n_bytes=WORD_BYTES * n_words(program),
        words=words(program),
        tells_unlikeness=tells_unlikeness(program),  # the audit counts unlike inputs apart
        none_yet=NONE_YET,
    )


def _declaration(counter: Counter, upper: str) -> str:
    c_type = "float" if counter.is_float else "uint32_t"
    array = f"[{upper}_{counter.length}]" if counter.length else ""
    return f"{c_type} {counter.name}{array};"
