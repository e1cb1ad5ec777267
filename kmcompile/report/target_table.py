"""The table of targets: what one model takes on each of them, one row a target."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from kmcompile.report.figures import bytes_text, count_text
from kmcompile.report.summary import Report, reason

_MISSING = "–"  # as wide as a digit


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell's text; of a value that is not available a dash, and the reason."""

    text: str
    why: str = ""


@dataclass(frozen=True, slots=True)
class TargetRow:
    """A target: its name, what stands beside it, and the cells of `COLUMNS`."""

    target: str
    part: str
    number_format: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class TargetTable:
    """The rows, and why values are missing: one note a target and reason."""

    rows: tuple[TargetRow, ...]
    notes: tuple[str, ...]


COLUMNS: tuple[tuple[str, Callable[[Any], str]], ...] = (
    ("memory.flash_bytes", bytes_text),
    ("memory.ram_bytes", bytes_text),
    ("memory.stack_bytes", bytes_text),
    ("memory.painted_stack_bytes", bytes_text),
    ("target.instructions.exact", count_text),
    ("target.instructions.mean", count_text),
    ("target.instructions.p99", count_text),
    ("target.instructions.max", count_text),
    ("target.instructions.worst", count_text),
    ("target.instructions.worst_without_replay", count_text),
    ("verification.exact.target.queries", count_text),
    ("verification.exact.target.mismatches", count_text),
)
"""The fields of report.json in the order of the heads in `report/targets.html.j2`."""


def target_table(reports: Iterable[Report]) -> TargetTable:
    """Return the table of several compilations of one model.

    Parameters
    ----------
    reports : iterable of dict
        report.json of each; a null field is shown as a dash with its reason.
    """
    return _table([_row(report) for report in reports])


def target_and_host(report: Report) -> TargetTable:
    """Return the table of one compilation: its target, and the host that checked the same C."""
    rows = [_row(report)]
    if report["target"]["emulator"] is not None:
        rows.append(_host_row(report))
    return _table(rows)


def _table(rows: Sequence[TargetRow]) -> TargetTable:
    notes = [f"{row.target}: {cell.why}" for row in rows for cell in row.cells if cell.why]
    return TargetTable(tuple(rows), tuple(dict.fromkeys(notes)))


def _row(report: Report) -> TargetRow:
    target = report["target"]
    run_on_host = target["emulator"] is None
    cells = [
        _cell(report, path.replace("exact.target", "exact.host") if run_on_host else path, text)
        for path, text in COLUMNS
    ]
    return TargetRow(
        target["name"], target["part"] or _MISSING, report["options"]["format"], tuple(cells)
    )


def _host_row(report: Report) -> TargetRow:
    """Return the host's row, of which a compilation for another target keeps the check only."""
    on_host = "verification.exact.target"
    cells = [
        _cell(report, path.replace("exact.target", "exact.host"), text)
        if path.startswith(on_host)
        else Cell(_MISSING)
        for path, text in COLUMNS
    ]
    return TargetRow("host", _MISSING, report["options"]["format"], tuple(cells))


def _cell(report: Report, path: str, text: Callable[[Any], str]) -> Cell:
    value: Any = report
    for key in path.split("."):
        value = None if value is None else value.get(key)
    return Cell(_MISSING, reason(report, path)) if value is None else Cell(text(value))
