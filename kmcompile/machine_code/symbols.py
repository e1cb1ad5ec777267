"""The symbol table of an ELF file, read whole.

An object of a model has hundreds of sections and symbols, for each of which pyelftools makes
objects of its own; numpy reads their tables at once. The layouts are those of the System V
Application Binary Interface, edition 4.1, chapter 4, and of its 64-bit form.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

_SYMBOL_TABLE = 2  # SHT_SYMTAB
_ADDENDS, _NO_ADDENDS = 4, 9  # SHT_RELA, SHT_REL
_FUNCTION = 2  # STT_FUNC
_LOCAL = 0  # STB_LOCAL
_UNDEFINED = 0  # SHN_UNDEF

# Field and bytes, by the bits of an address.
_SECTION = {
    32: "name4 type4 flags4 address4 offset4 size4 link4 info4 alignment4 entry4",
    64: "name4 type4 flags8 address8 offset8 size8 link4 info4 alignment8 entry8",
}
_ENTRY = {
    32: "name4 value4 size4 info1 other1 section2",
    64: "name4 info1 other1 section2 value8 size8",
}
_PLAIN = {32: "offset4 info4", 64: "offset8 info8"}
_WITH = {32: "offset4 info4 addend4", 64: "offset8 info8 addend8"}
_SYMBOL_OF = {32: 8, 64: 32}
"""By how many bits the field `info` of a relocation is shifted to be the number of a symbol."""


@dataclass(frozen=True, slots=True)
class Symbol:
    """A name of an object or image.

    Attributes
    ----------
    value : int
        The address of a function; in Thumb code the lowest bit is set.
    is_defined : bool
        Whether this file defines the symbol.
    is_external : bool
        Whether other objects can use the symbol.
    section : int
        The number of the section that has it.
    """

    name: str
    value: int
    size_bytes: int
    is_function: bool
    is_defined: bool
    is_external: bool
    section: int


def read_symbols(elf: Any) -> list[Symbol]:
    """Return the symbols that have a name.

    Parameters
    ----------
    elf : ELFFile
        An open file. Without a symbol table the result is empty.
    """
    sections = _sections(elf)
    tables = sections[sections["type"] == _SYMBOL_TABLE]
    return [symbol for table in tables for symbol in _symbols(elf, sections, table) if symbol.name]


def read_relocations(elf: Any) -> Iterator[tuple[int, Symbol]]:
    """Yield the section that refers and the symbol it refers to, which may have no name.

    Some relocations have none: RISC-V's only say where the linker may shorten the code.
    """
    sections = _sections(elf)
    known: dict[int, list[Symbol]] = {}
    for table in sections:
        if table["type"] not in (_ADDENDS, _NO_ADDENDS):
            continue
        link = int(table["link"])
        if link not in known:
            known[link] = _symbols(elf, sections, sections[link])
        layouts = _WITH if table["type"] == _ADDENDS else _PLAIN
        entries = _read(elf, layouts, table["offset"], table["size"])
        for number in (entries["info"] >> _SYMBOL_OF[elf.elfclass]).tolist():
            if number != 0:
                yield int(table["info"]), known[link][number]


def _sections(elf: Any) -> np.ndarray:
    """Return the table of sections."""
    return _read(elf, _SECTION, elf["e_shoff"], elf["e_shnum"] * elf["e_shentsize"])


def _symbols(elf: Any, sections: np.ndarray, table: np.void) -> list[Symbol]:
    """Return the symbols of a table by their numbers."""
    symbols = []
    texts = sections[table["link"]]
    names = _bytes(elf, texts["offset"], texts["size"])
    entries = _read(elf, _ENTRY, table["offset"], table["size"])
    fields = ("name", "value", "size", "info", "section")
    for start, value, size, info, section in zip(
        *(entries[field].tolist() for field in fields), strict=True
    ):
        name = names[start : names.index(b"\0", start)].decode("utf-8", "backslashreplace")
        kind, binding = info & 15, info >> 4
        here, external = section != _UNDEFINED, binding != _LOCAL
        symbols.append(Symbol(name, value, size, kind == _FUNCTION, here, external, section))
    return symbols


def _read(elf: Any, layouts: dict[int, str], offset: int, size: int) -> np.ndarray:
    """Return a table of records at a place of the file."""
    order = "<" if elf.little_endian else ">"
    layout = [(word[:-1], f"{order}u{word[-1]}") for word in layouts[elf.elfclass].split()]
    return np.frombuffer(_bytes(elf, offset, size), dtype=layout)


def _bytes(elf: Any, offset: int, size: int) -> bytes:
    elf.stream.seek(int(offset))
    return bytes(elf.stream.read(int(size)))
