"""The table of a bench, one model on several targets: printed, as CSV and as a page."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kmcompile.report.html_environment import html_environment
from kmcompile.report.summary import Report
from kmcompile.report.target_table import COLUMNS, Column, target_table, values_of
from kmcompile.report.told import Fact, Facts
from kmcompile.target import Target
from kmcompile.text.visible import visible

_FORMULA_STARTS = ("=", "+", "-", "@")


@dataclass(frozen=True, slots=True)
class FailedTarget:
    """The reason why the table has no row of a target."""

    target: str
    text: str


def table_text(reports: Sequence[Report]) -> list[tuple[str, ...]]:
    """Return the cells of the printed table, the head first.

    Parameters
    ----------
    reports : sequence of dict
        report.json of each target.
    """
    columns = [column for column in COLUMNS if column.head]
    return [
        tuple(column.head for column in columns),
        *(_cells(report, columns) for report in reports),
    ]


def csv_bytes(reports: Sequence[Report]) -> bytes:
    """Return all columns as CSV, with an empty field for a value that was not measured.

    Parameters
    ----------
    reports : sequence of dict
        report.json of each target.
    """
    text = io.StringIO()
    names = [column.name for column in COLUMNS]
    writer = csv.DictWriter(text, fieldnames=names, lineterminator="\n")
    writer.writeheader()
    for report in reports:
        writer.writerow({name: _field(value) for name, value in values_of(report).items()})
    return text.getvalue().encode()


def _field(value: Any) -> Any:
    """Return a value for CSV, changed if a spreadsheet would read it as a formula."""
    if not isinstance(value, str):
        return value
    shown = visible(value)
    return f"'{shown}" if shown.startswith(_FORMULA_STARTS) else shown


def page_bytes(
    title: str,
    command: str,
    reports: Sequence[Report],
    failures: Sequence[FailedTarget],
    targets: Sequence[Target],
) -> bytes:
    """Return the page: the table, what each target stands for, and what emulators do not show.

    Parameters
    ----------
    reports : sequence of dict
        report.json of each target.
    targets : sequence of Target
        The targets of the reports.
    """
    template = html_environment().get_template("report/bench.html.j2")
    text = template.render(
        title=title,
        command=command,
        table=target_table(reports),
        failures=failures and Facts([Fact(one.target, one.text) for one in failures]),
        targets=targets,
    )
    return text.encode()


def _cells(report: Report, columns: Sequence[Column]) -> tuple[str, ...]:
    values = values_of(report)
    return tuple(
        "-" if values[column.name] is None else column.text(values[column.name])
        for column in columns
    )
