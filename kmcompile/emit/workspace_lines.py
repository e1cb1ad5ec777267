"""Lines of declarations: the members of the workspace, with comments in one column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kmcompile.emit.literals import unsigned_literal
from kmcompile.emit.words import words_of
from kmcompile.program.layout import Member
from kmcompile.program.program import Program


def member_lines(members: Iterable[Member]) -> Iterator[tuple[str, str]]:
    """Yield the declaration of each array or number with its meaning."""
    for member in members:
        size = "" if member.length is None else f"[{unsigned_literal(member.length)}]"
        yield f"{member.c_type} {member.name}{size};", member.meaning


def replay_member(program: Program) -> Iterator[tuple[str, str]]:
    """Yield the replay's part of the workspace, which comes first so that no padding is needed."""
    if program.replay is not None:
        meaning = f"what the replay computes in {words_of(program).precise}"
        yield f"{program.name}_replay_workspace_t replay;", meaning


def with_meanings(rows: Iterable[tuple[str, str]]) -> tuple[str, ...]:
    """Return lines of code with comments aligned in one column."""
    rows = list(rows)
    width = max(len(code) for code, _ in rows)
    return tuple(f"{code:{width}}  /* {meaning} */" for code, meaning in rows)
