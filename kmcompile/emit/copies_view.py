"""The view of the second copies of the tables, and of the checksums of their blocks."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.emit.tables import (
    TableView,
    block_checksum_table,
    descriptor,
    second_copy,
    table_view,
)
from kmcompile.program.program import Program
from kmcompile.program.redundancy import n_blocks


@dataclass(frozen=True, slots=True)
class CopiesView:
    """What `--redundancy 2` adds to the tables.

    Attributes
    ----------
    checksums : TableView
        The checksums of all blocks.
    tables : tuple of TableView
        The second copies of all tables and of the checksums.
    descriptors : tuple of str
        The self-test's records of the second copies.
    n_blocks : int
    """

    checksums: TableView
    tables: tuple[TableView, ...]
    descriptors: tuple[str, ...]
    n_blocks: int


def copies_view(program: Program, tables: tuple[TableView, ...]) -> CopiesView | None:
    """Return the view of the second copies of a program's tables; None without them."""
    if program.redundancy == 1:
        return None
    checksums = table_view(block_checksum_table(program.tables()))
    seconds = tuple(second_copy(table) for table in tables)
    return CopiesView(
        checksums=checksums,
        tables=(*seconds, second_copy(checksums)),
        descriptors=tuple(descriptor(table, program.name) for table in seconds),
        n_blocks=n_blocks(program.tables()),
    )
