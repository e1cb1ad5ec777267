"""The table of targets: the cost of one model on each target, one row for each."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kmcompile.report.summary import Report, reason, value_at
from kmcompile.report.told import Cell, Rows, Text
from kmcompile.text.figures import (
    MISSING,
    bytes_text,
    count_text,
    milliseconds_text,
    share_text,
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the CSV file, and its places in the printed table and on the page.

    Attributes
    ----------
    path : str
        Path of the field in report.json.
    text : callable
        Function that gives the text of the value.
    head : str
        Head of the column in the printed table; empty if it is not printed.
    on_page : bool
        Whether the page shows the column; `_HEADS` are in this order.
    """

    name: str
    path: str
    text: Callable[[Any], str] = str
    head: str = ""
    on_page: bool = False


COLUMNS = (
    Column("target", "target.name", head="target"),
    Column("part", "target.part"),
    Column("emulator", "target.emulator"),
    Column("mode", "options.mode"),
    Column("format", "options.format", head="format"),
    Column("flash_bytes", "memory.flash_bytes", bytes_text, "flash", on_page=True),
    Column("part_flash_bytes", "memory.part_flash_bytes", bytes_text),
    Column("ram_bytes", "memory.ram_bytes", bytes_text, on_page=True),
    Column("part_ram_bytes", "memory.part_ram_bytes", bytes_text),
    Column("workspace_bytes", "memory.workspace_bytes", bytes_text, "workspace"),
    Column("stack_bytes", "memory.stack_bytes", bytes_text, "stack", on_page=True),
    Column("painted_stack_bytes", "memory.painted_stack_bytes", bytes_text, "seen", on_page=True),
    Column("exact", "target.instructions.exact", count_text, "exact sum", on_page=True),
    Column("mean", "target.instructions.mean", count_text, "mean", on_page=True),
    Column("p99", "target.instructions.p99", count_text, "99 %", on_page=True),
    Column("max", "target.instructions.max", count_text, "largest", on_page=True),
    Column(
        "worst_without_replay",
        "target.instructions.worst_without_replay",
        count_text,
        "worst, no replay",
        on_page=True,
    ),
    Column("worst", "target.instructions.worst", count_text, "worst case", on_page=True),
    Column("clock_hz", "target.time.clock_hz", count_text),
    Column("mean_seconds", "target.time.mean_seconds", milliseconds_text, on_page=True),
    Column("worst_seconds", "target.time.worst_seconds", milliseconds_text, on_page=True),
    Column("counted_queries", "target.instructions.queries", count_text),
    Column("queries", "verification.exact.target.queries", count_text, on_page=True),
    Column("mismatches", "verification.exact.target.mismatches", count_text, on_page=True),
    Column("certified_share", "verification.certified.certified_share", share_text),
)
"""The columns: bytes, instructions of one query, and checks."""

_HEADS = (
    *("Target", "Part", "Format", ("Memory", "flash", "RAM"), ("Stack", "static", "painted")),
    (
        *("Instructions of one query", "exact sum", "mean", "p99", "largest"),
        *("worst, no replay", "worst case"),
    ),
    ("Time", "mean", "worst case"),
    ("Bit for bit", "queries", "mismatches"),
)
_ON_PAGE = tuple(column for column in COLUMNS if column.on_page)


def values_of(report: Report) -> dict[str, Any]:
    """Return the values of `COLUMNS` by name; None for a value that is not available."""
    return {column.name: value_at(report, _path(report, column)) for column in COLUMNS}


def target_table(reports: Iterable[Report]) -> list[Rows | Text]:
    """Return the table of several compilations of one model, and what values are missing.

    Parameters
    ----------
    reports : iterable of dict
        report.json of each; a null field is shown as a dash with its reason.
    """
    return _table([_row(report) for report in reports])


def target_and_host(report: Report) -> list[Rows | Text]:
    """Return the table of one compilation: its target, and the host, which checked the C too."""
    rows = [_row(report)]
    if report["target"]["emulator"] is not None:
        rows.append(_host_row(report))
    return _table(rows)


def _table(rows: Sequence[Sequence[Cell]]) -> list[Rows | Text]:
    missing = dict.fromkeys(
        f"{row[0].text}: {cell.why}" for row in rows for cell in row if cell.why
    )
    return [Rows(_HEADS, rows, kind="targets", name="Table of targets"), *map(Text, missing)]


def _row(report: Report) -> list[Cell]:
    target = report["target"]
    cells = [_cell(report, _path(report, column), column.text) for column in _ON_PAGE]
    return [
        Cell(target["name"], names_row=True),
        *(Cell(target["part"] or MISSING), Cell(report["options"]["format"])),
        *cells,
    ]


def _host_row(report: Report) -> list[Cell]:
    """Return the host's row, which has only the check if the target is another one."""
    cells = [
        Cell(MISSING, "number")
        if _on_host(column.path) == column.path
        else _cell(report, _on_host(column.path), column.text)
        for column in _ON_PAGE
    ]
    return [
        *(Cell("host", names_row=True), Cell(MISSING), Cell(report["options"]["format"])),
        *cells,
    ]


def _path(report: Report, column: Column) -> str:
    """Return where the field is: for the host that of the host, and of flash that was not built
    the one that says why."""
    if column.name == "flash_bytes" and report["memory"]["flash_is_lower_limit"]:
        return "memory.code_bytes"
    return _on_host(column.path) if report["target"]["emulator"] is None else column.path


def _on_host(path: str) -> str:
    return path.replace("exact.target", "exact.host")


def _cell(report: Report, path: str, text: Callable[[Any], str]) -> Cell:
    value = value_at(report, path)
    why = reason(report, path) if value is None else ""
    return Cell(text(value) if value is not None else MISSING, "number", why=why)
