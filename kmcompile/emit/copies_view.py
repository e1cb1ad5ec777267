"""The view of the second copies of the tables, and of the checksums of their blocks."""

from __future__ import annotations

from types import SimpleNamespace

from kmcompile.emit.tables import (
    TableView,
    block_checksum_table,
    descriptor,
    second_copy,
    table_view,
)
from kmcompile.program.program import Program
from kmcompile.program.redundancy import n_blocks


def copies_view(program: Program, tables: tuple[TableView, ...]) -> SimpleNamespace | None:
    """Return what `--redundancy 2` adds to a program's tables; None without it."""
    if program.redundancy == 1:
        return None
    checksums = table_view(block_checksum_table(program.tables()))
    seconds = tuple(second_copy(table) for table in tables)
    return SimpleNamespace(
        checksums=checksums,  # of all blocks
        tables=(*seconds, second_copy(checksums)),
        # The self-test's records of the second copies.
        descriptors=tuple(descriptor(table, program.name) for table in seconds),
        n_blocks=n_blocks(program.tables()),
    )
