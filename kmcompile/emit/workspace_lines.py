"""Lines of declarations: the members of the workspace, with comments in one column."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from kmcompile.emit.code_table_view import code_lines
from kmcompile.emit.fixed_sum_view import integer_members
from kmcompile.emit.layout import Layout
from kmcompile.emit.members import declaration
from kmcompile.emit.words import words_of
from kmcompile.program.layout import Member
from kmcompile.program.program import Program
from kmcompile.program.stages import CodeTable


def member_lines(members: Iterable[Member]) -> Iterator[tuple[str, str]]:
    """Yield the declaration of each array or number with its meaning."""
    for member in members:
        yield declaration(member), member.meaning


def own_lines(layout: Layout) -> Iterator[tuple[str, str]]:
    """Yield the declarations of the workspace behind the replay's part, the widest types first."""
    program, summed = layout.program, layout.program.ends.exact
    yield from member_lines(integer_members(summed))
    if isinstance(program.codes, CodeTable):
        yield from code_lines(program.codes, program.name)
    yield from member_lines(layout.members)


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
