"""The section of the report on the copies of the tables."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.program.program import Program
from kmcompile.program.redundancy import BLOCK_WORDS, checksum_bytes, n_blocks, stored_bytes
from kmcompile.report.section import Section
from kmcompile.report.summary import Fact, Report
from kmcompile.text.figures import count_text

_NOT_ASKED = "every table is there once: --redundancy 2 makes two copies"


@dataclass(frozen=True, slots=True, kw_only=True)
class Redundancy:
    """The copies of the tables.

    Attributes
    ----------
    copies : int
    blocks, block_words : int
        Blocks of all tables of one copy, and the 32-bit words of a block.
    table_bytes, checksum_bytes : int
        Bytes of all copies of the tables, and of the checksums of their blocks.
    added_bytes : int
        What the option adds to the constants of the C.
    """

    copies: int
    blocks: int
    block_words: int
    table_bytes: int
    checksum_bytes: int
    added_bytes: int


def redundancy_section(program: Program) -> Section[Redundancy | None]:
    """Return the section on `--redundancy`; its content is None without it."""
    if program.redundancy == 1:
        return Section(None, {"redundancy": _NOT_ASKED})
    tables, checksums = stored_bytes(program), checksum_bytes(program)
    once = program.table_bytes + 4 * len(program.tables())
    content = Redundancy(
        copies=program.redundancy,
        blocks=n_blocks(program.tables()),
        block_words=BLOCK_WORDS,
        table_bytes=tables,
        checksum_bytes=checksums,
        added_bytes=tables + checksums - once,
    )
    return Section(content, {})


def redundancy_facts(report: Report) -> tuple[Fact, ...]:
    """Return the copies and what they take; empty without `--redundancy`."""
    section = report["redundancy"]
    if section is None:
        return ()
    blocks = f"{count_text(section['blocks'])} of {count_text(section['block_words'])} words"
    return (
        Fact("copies of every table", count_text(section["copies"])),
        Fact("blocks with a checksum, of each copy", blocks),
        Fact("tables, all copies", f"{count_text(section['table_bytes'])} bytes"),
        Fact("checksums, all copies", f"{count_text(section['checksum_bytes'])} bytes"),
        Fact("more than with one copy", f"{count_text(section['added_bytes'])} bytes"),
    )
