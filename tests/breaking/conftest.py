"""Prints what the attacks found, a line a stage, after the tests."""

from __future__ import annotations

import dataclasses

import pytest
from attack import Figures, Table, lines, merge


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Add up the figures that the tests recorded, those of other processes too."""
    tables: dict[str, Table] = {}
    for report in terminalreporter.getreports("passed") + terminalreporter.getreports("failed"):
        for name, value in getattr(report, "user_properties", []):
            if name.startswith("answers of "):
                found = {stage: Figures(**figures) for stage, figures in value.items()}
                merge(tables.setdefault(name, {}), found)
    for name, table in tables.items():
        terminalreporter.section(name)
        terminalreporter.write_line("\n".join(lines(table)))


@pytest.fixture
def record_figures(record_property):
    """Return a function that records a table of figures of a kind of run."""

    def record(kind: str, table: Table) -> None:
        plain = {name: dataclasses.asdict(figures) for name, figures in table.items()}
        record_property(f"answers of {kind}", plain)

    return record
