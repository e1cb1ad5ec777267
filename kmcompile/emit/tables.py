"""Constant tables as C initialisers, with their checksums."""

from __future__ import annotations

from dataclasses import dataclass

import google_crc32c
import numpy as np

from kmcompile.emit.literals import float32_literal
from kmcompile.ir.table import Table

_COLUMNS = 100
_INDENT = "    "


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as the templates write it.

    Parameters
    ----------
    reader : str
        The function of the self-test that returns an element's bits.
    text : str
        The elements, wrapped.
    """

    name: str
    c_type: str
    length: int
    layout: str
    reader: str
    text: str


def table_view(table: Table) -> TableView:
    """Return the view of a table."""
    flat = table.values.reshape(-1)
    is_float = flat.dtype == np.float32
    if is_float:
        # Equal values are written once: support vectors of pixels have few.
        values, inverse = np.unique(flat.view(np.uint32), return_inverse=True)
        known = [float32_literal(value) for value in values.view(np.float32)]
        words = [known[index] for index in inverse]
    else:
        suffix = "U" if flat.dtype == np.uint16 else "UL"
        words = [f"{value}{suffix}" for value in flat]
    return TableView(
        name=table.name,
        c_type=table.c_type,
        length=len(flat),
        layout=table.layout,
        reader="float_at" if is_float else "integer_at",
        text=_wrap(words),
    )


def _wrap(words: list[str]) -> str:
    """Return the words with commas in lines of at most 100 columns."""
    lines: list[str] = []
    line: list[str] = []
    width = len(_INDENT)
    for word in words:
        if line and width + len(word) + 2 > _COLUMNS:
            lines.append(_INDENT + ", ".join(line))
            line, width = [], len(_INDENT)
        line.append(word)
        width += len(word) + 2
    lines.append(_INDENT + ", ".join(line))
    return ",\n".join(lines)


def checksum(table: Table) -> int:
    """Return the CRC-32C of a table's elements, each as a 32-bit word, low byte first.

    Its check value is 0xE3069283.
    """
    return int(google_crc32c.value(table.words().astype("<u4").tobytes()))


def checksum_table(tables: tuple[Table, ...]) -> Table:
    """Return the table of the checksums of all others."""
    values = np.array([checksum(table) for table in tables], dtype=np.uint32)
    return Table("checksums", values, "CRC-32C of each table, in the order of the tables")
