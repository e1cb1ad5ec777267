"""How many steps a pass of the self-test has."""

from __future__ import annotations

from kmcompile.emit.code_table_view import TABLE
from kmcompile.emit.coded_view import coded_view
from kmcompile.emit.tables import TableView, table_view
from kmcompile.program.program import Program
from kmcompile.program.redundancy import BLOCK_WORDS

WORDS_PER_STEP = BLOCK_WORDS
"""Table words that one step of the self-test reads."""


def table_views(program: Program) -> tuple[TableView, ...]:
    """Return the tables of a program as the C holds them."""
    coded = coded_view(program)
    return tuple(
        table_view(table, as_words=coded is not None and coded.in_fours and table.name == TABLE)
        for table in program.tables()
    )


def n_test_steps(program: Program) -> int:
    """Return the steps of one pass: the tables by groups of words, the known answers, the end."""
    groups = sum(-(-len(table.words()) // WORDS_PER_STEP) for table in program.tables())
    return groups + len(program.known_answers) + 1
