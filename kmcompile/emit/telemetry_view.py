"""The view of a program's telemetry: the members of its struct, with their places."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

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


@dataclass(frozen=True, slots=True)
class TelemetryMember:
    """A member of the struct.

    Attributes
    ----------
    name : str
    offset : int
        In bytes.
    length : str
        The macro with the number of elements of an array, without the prefix, or "".
    is_float : bool
    """

    name: str
    offset: int
    length: str
    is_float: bool


@dataclass(frozen=True, slots=True)
class TelemetryView:
    """The telemetry of a program.

    Attributes
    ----------
    members : tuple of TelemetryMember
    lines : tuple of str
        The declarations of the members, with comments.
    n_statuses : int
        The number of status codes.
    n_words : int
        32-bit words of the struct.
    words : tuple of (str, str, bool)
        Name and meaning of each word, and whether it is a float.
    tells_unlikeness : bool
        Whether the audit counts unlike inputs apart.
    none_yet : numpy.float32
        The smallest margin before any answer.
    """

    members: tuple[TelemetryMember, ...]
    lines: tuple[str, ...]
    n_statuses: int
    n_words: int
    words: tuple[tuple[str, str, bool], ...]
    tells_unlikeness: bool
    none_yet: np.float32 = NONE_YET

    @property
    def n_bytes(self) -> int:
        """The bytes of the struct."""
        return WORD_BYTES * self.n_words


def telemetry_view(program: Program) -> TelemetryView | None:
    """Return the view of a program's telemetry; None without it."""
    if not program.telemetry:
        return None
    own = counters(program)
    members = tuple(
        TelemetryMember(one.name, WORD_BYTES * place, one.length, one.is_float)
        for one, place in zip(own, places(program).values(), strict=True)
    )
    upper = program.name.upper()
    rows = (
        (_declaration(one, upper), f"{member.offset}: {one.meaning}")
        for one, member in zip(own, members, strict=True)
    )
    return TelemetryView(
        members=members,
        lines=with_meanings(rows),
        n_statuses=len(Status),
        n_words=n_words(program),
        words=words(program),
        tells_unlikeness=tells_unlikeness(program),
    )


def _declaration(counter: Counter, upper: str) -> str:
    c_type = "float" if counter.is_float else "uint32_t"
    array = f"[{upper}_{counter.length}]" if counter.length else ""
    return f"{c_type} {counter.name}{array};"
