"""What one model takes on several targets, measured the same way: rows, CSV and a page."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kmcompile.report.figures import bytes_text, count_text, share_text
from kmcompile.report.html_environment import html_environment
from kmcompile.report.target_table import target_table
from kmcompile.target import Target

Row = Mapping[str, Any]

_MEMORY = ("flash_bytes", "part_flash_bytes", "ram_bytes", "part_ram_bytes", "workspace_bytes")
_STACK = ("stack_bytes", "painted_stack_bytes")
_INSTRUCTIONS = ("exact", "mean", "p99", "max", "worst", "worst_without_replay")

HEADINGS = {
    "target": "target",
    "format": "format",
    "flash_bytes": "flash",
    "workspace_bytes": "workspace",
    "stack_bytes": "stack",
    "painted_stack_bytes": "seen",
    "exact": "exact sum",
    "mean": "mean",
    "p99": "99 %",
    "max": "largest",
    "worst_without_replay": "worst, no replay",
    "worst": "worst case",
}
"""Columns of the printed table: bytes, then instructions of one query."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Why there is no row of a target."""

    target: str
    text: str


def board_row(report: Mapping[str, Any], target: Target) -> dict[str, Any]:
    """Return a row of the table.

    Parameters
    ----------
    report : mapping
        report.json.

    Returns
    -------
    dict
        Bytes and instructions of one query; None for what was not measured. `queries` were
        answered on the target, or on the host where it is the target.
    """
    memory, found = report["memory"], report["target"]
    instructions = found.get("instructions") or {}
    verification = report["verification"]
    exact = verification["exact"]["target"] or verification["exact"]["host"] or {}
    certified = verification["certified"] or {}
    return {
        "target": target.name,
        "part": target.part.name if target.part else None,
        "emulator": found["emulator"],
        "mode": report["options"]["mode"],
        "format": report["options"]["format"],
        **{field: memory[field] for field in (*_MEMORY, *_STACK)},
        **{field: instructions.get(field) for field in _INSTRUCTIONS},
        "counted_queries": instructions.get("queries"),
        "queries": exact.get("queries"),
        "mismatches": exact.get("mismatches"),
        "certified_share": certified.get("certified_share"),
    }


def table_text(rows: Sequence[Row]) -> list[tuple[str, ...]]:
    """Return the cells of the printed table, the head first."""
    return [tuple(HEADINGS.values()), *(_cells(row, HEADINGS) for row in rows)]


def csv_bytes(rows: Sequence[Row]) -> bytes:
    """Return all columns as CSV; an empty field was not measured."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue().encode()


def page_bytes(
    title: str,
    command: str,
    reports: Sequence[dict[str, Any]],
    failures: Sequence[Failure],
    targets: Sequence[Target],
) -> bytes:
    """Return the page: the table, what each target stands for, and what is not shown.

    Parameters
    ----------
    reports : sequence of dict
        report.json of each row.
    targets : sequence of Target
        Those of the rows.
    """
    template = html_environment().get_template("report/bench.html.j2")
    text = template.render(
        title=title,
        command=command,
        table=target_table(reports),
        failures=failures,
        targets=targets,
    )
    return text.encode()


def _cells(row: Row, columns: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(_cell(field, row[field]) for field in columns)


def _cell(field: str, value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, str):
        return value
    if field.endswith("_bytes"):
        return bytes_text(value)
    return share_text(value) if field.endswith("_share") else count_text(round(value))
