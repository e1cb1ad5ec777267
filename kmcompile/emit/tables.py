"""Constant tables as C initialisers, with their checksums."""

from __future__ import annotations

import io
import itertools
import textwrap
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.emit.float_words import float32_literals
from kmcompile.emit.header_text import COMMENT_COLUMNS
from kmcompile.emit.literals import float64_literal, unsigned_literal
from kmcompile.numeric.table import C_TYPES, Table
from kmcompile.program.redundancy import block_checksums
from kmcompile.target.description import Target

_COLUMNS = 100
_INDENT = "    "
_WIDTH = _COLUMNS - len(_INDENT)
"""Most columns of the words of a line, each with its comma and a blank."""
_AT_A_TIME = 1 << 18
"""Number of elements that are formatted at a time."""


@dataclass(frozen=True, slots=True)
class TableView:
    """A table as the templates write it into the C.

    Parameters
    ----------
    comment : tuple of str
        The table's contents, symbol and unit, how it is indexed, and its shape.
    reader : Reader
        How the self-test reads its elements.
    element : str
        Name of the array in C, without the prefix.
    text : str
        The elements, wrapped.
    n_words : int
        Number of 32-bit words: one for each element, two for a 64-bit one.
    code_words : int
        Number of words of codes that inner loops may read as words; 0 for other tables.
    """

    name: str
    c_type: str
    length: int
    comment: tuple[str, ...]
    reader: Reader
    element: str
    text: str
    n_words: int
    code_words: int


@dataclass(frozen=True, slots=True)
class Reader:
    """How the self-test reads tables of one type.

    Parameters
    ----------
    name : str
        The function that returns an element's bits, or one half of a 64-bit element.
    c_type : str
    cast : str
        The C cast from an integer to its bits.
    meaning : str
        The comment of the function of an integer; "" where it has a template of its own.
    """

    name: str
    c_type: str
    cast: str
    meaning: str

    @property
    def member(self) -> str:
        """The member that points to elements of this type."""
        return f"as_{self.c_type.removesuffix('_t')}"

    @property
    def constant(self) -> str:
        """The enumerator of this type, without the prefix."""
        return f"TYPE_{self.c_type.removesuffix('_t').upper()}"

    @property
    def halves(self) -> bool:
        """Whether an element is two words."""
        return self.c_type in ("double", "uint64_t")


_READERS = {
    dtype: Reader(name, C_TYPES[dtype], "(uint32_t)" if dtype.startswith("int") else "", meaning)
    for dtype, name, meaning in (
        ("float32", "float_at", ""),
        ("float64", "double_at", ""),
        ("uint8", "byte_at", "A byte."),
        ("int8", "signed_byte_at", "A signed byte, modulo 2^32."),
        ("int16", "int16_at", "A signed integer, modulo 2^32."),
        ("uint16", "integer_at", "An integer."),
        ("int32", "int32_at", "A signed word, modulo 2^32."),
        ("uint32", "word_at", "A word."),
        ("uint64", "wide_at", ""),
    )
}
_SUFFIXES = {f"int{bits}": "" for bits in (8, 16, 32)}
_SUFFIXES |= {"uint8": "U", "uint16": "U", "uint32": "UL", "uint64": "ULL"}


def table_view(table: Table, as_words: bool = False) -> TableView:
    """Return the view of a table; with `as_words`, inner loops may also read its codes as words."""
    flat = table.values.reshape(-1)
    return TableView(
        name=table.name,
        c_type=table.c_type,
        length=len(flat),
        comment=_comment(table),
        reader=_READERS[flat.dtype.name],
        element=f"{table.name}.code" if as_words else table.name,
        text=_wrap(_literals(flat)),
        n_words=len(table.words()),
        code_words=flat.nbytes // 4 if as_words else 0,
    )


def _comment(table: Table) -> tuple[str, ...]:
    """Return the lines of a table's comment."""
    meaning, _, index = table.layout.partition(": [")
    text = f"{meaning}. Index: [{index}"
    if table.values.ndim == table.layout.count("["):
        text += f", {'x'.join(map(str, table.values.shape))}"
    return tuple(textwrap.wrap(f"{text}.", COMMENT_COLUMNS - 2, break_on_hyphens=False))


def table_qualifier(name: str, target: Target) -> str:
    """Return the qualifier before a table's type, with a blank; "" where tables are plain data."""
    return f"{name.upper()}_TABLE " if target.tables_apart else ""


def readers_of(tables: Iterable[TableView]) -> tuple[Reader, ...]:
    """Return the readers that the tables need, each once."""
    used = {table.reader.name for table in tables}
    return tuple(reader for reader in _READERS.values() if reader.name in used)


def descriptor(table: TableView, name: str) -> str:
    """Return the initialiser of the self-test's record of a table; `name` is the prefix."""
    # On AVR, the address of an array in a union is not a constant expression.
    address = f"&{name}_{table.element}[0]" if table.code_words else f"{name}_{table.element}"
    elements = f"{{ {{ .{table.reader.member} = {address} }},"
    size = f"{name.upper()}_{table.reader.constant}, {unsigned_literal(table.n_words)} }}"
    fits = len(_INDENT) + len(elements) + len(size) + 2 <= _COLUMNS
    return f"{elements} {size}" if fits else f"{elements}\n{2 * _INDENT}{size}"


def _literals(flat: NDArray[Any]) -> Iterator[Sequence[str]]:
    """Yield the elements as C literals in parts: all at once would take much memory."""
    for start in range(0, len(flat), _AT_A_TIME):
        values = flat[start : start + _AT_A_TIME]
        if values.dtype == np.float32:
            yield float32_literals(values)
        elif values.dtype == np.float64:
            yield list(map(float64_literal, values.tolist()))
        else:
            suffix = _SUFFIXES[values.dtype.name]
            yield [f"{value}{suffix}" for value in values.tolist()]


def _wrap(parts: Iterable[Sequence[str]]) -> str:
    """Return the words with commas in lines of at most 100 columns."""
    text = io.StringIO()
    line: list[str] = []  # of the part before
    for part in parts:
        words = [*line, *part]
        ends = list(itertools.accumulate(len(word) + 2 for word in words))
        first, before = 0, 0
        while ends and ends[-1] - before > _WIDTH:
            last = bisect_right(ends, before + _WIDTH, first)
            text.write(f"{_INDENT}{', '.join(words[first:last])},\n")
            first, before = last, ends[last - 1]
        line = words[first:]
    return text.getvalue() + (_INDENT + ", ".join(line) if line else "")


def checksum_table(tables: tuple[Table, ...]) -> Table:
    """Return the table that holds the checksums of all other tables."""
    values = np.array([table.checksum() for table in tables], dtype=np.uint32)
    return Table(
        "checksums",
        values,
        "Checksum (CRC-32C) of each table, in the order of the self-test: [table]",
    )


def block_checksum_table(tables: tuple[Table, ...]) -> Table:
    """Return the table that holds the checksums of the blocks of all other tables."""
    return Table(
        "block_checksums",
        block_checksums(tables),
        "Checksum (CRC-32C) of each block of each table, in the order of the self-test: [block]",
    )


def second_copy(table: TableView) -> TableView:
    """Return the view of the second copy of a table."""
    second = f"second_{table.name}"
    element = f"second_{table.element}"
    return replace(table, name=second, element=element, comment=("Its second copy.",))
