"""The copies of the tables in the report."""

from __future__ import annotations

from kmcompile.program.redundancy import BLOCK_WORDS, checksum_bytes, n_blocks, stored_bytes
from kmcompile.report.compilation import Compilation
from kmcompile.report.flight.flight_section import FlightSection
from kmcompile.report.missing import Content
from kmcompile.report.summary import Report
from kmcompile.report.told import Fact, Facts, Told
from kmcompile.text.figures import count_text


def _made(made: Compilation) -> Content | None:
    program = made.chosen.program
    if program.redundancy == 1:
        return None
    tables, checksums = stored_bytes(program), checksum_bytes(program)
    once = program.table_bytes + 4 * len(program.tables())
    return dict(
        copies=program.redundancy,
        blocks=n_blocks(program.tables()),
        block_words=BLOCK_WORDS,
        table_bytes=tables,
        checksum_bytes=checksums,
        added_bytes=tables + checksums - once,
    )


def _told(section: Report) -> Told:
    blocks = f"{count_text(section['blocks'])} of {count_text(section['block_words'])} words"
    facts = (
        Fact("copies of every table", count_text(section["copies"])),
        Fact("blocks with a checksum, of each copy", blocks),
        Fact("tables, all copies", f"{count_text(section['table_bytes'])} bytes"),
        Fact("checksums, all copies", f"{count_text(section['checksum_bytes'])} bytes"),
        Fact("more than with one copy", f"{count_text(section['added_bytes'])} bytes"),
    )
    return Told("redundancy", "Two copies of every table", (Facts(facts),))


SECTION = FlightSection(
    "redundancy", "every table is there once: --redundancy 2 makes two copies", _made, _told
)
