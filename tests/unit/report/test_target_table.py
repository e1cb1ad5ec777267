"""The table of targets: one row a target, a dash with its reason where a value is missing."""

from __future__ import annotations

from typing import Any

import pytest
from sample_report import make_report

from kmcompile.report.json_report import to_dict
from kmcompile.report.target_table import COLUMNS, target_and_host, target_table, values_of

NAMED = 3  # columns before those of COLUMNS
PATHS = [column.path for column in COLUMNS if column.on_page]


@pytest.fixture
def report() -> dict[str, Any]:
    return to_dict(make_report())


def cell(table: Any, row: int, path: str) -> Any:
    return table[0].rows[row][NAMED + PATHS.index(path)]


def test_a_row_has_what_the_target_takes(report):
    table = target_table([report])
    assert table[0].texts()[0][:NAMED] == ["cortex-m7", "STM32H743ZI", "float32"]
    assert cell(table, 0, "memory.flash_bytes").text == "18.7 KB"
    assert cell(table, 0, "memory.painted_stack_bytes").text == "288 B"
    assert cell(table, 0, "target.instructions.max").text == "41,934"
    assert cell(table, 0, "verification.exact.target.mismatches").text == "0"


def test_a_missing_value_is_a_dash_with_its_reason_below_the_table(report):
    report["target"]["instructions"] = None
    report["not_available"]["target.instructions"] = "--verify host"
    table = target_table([report, report])
    missing = cell(table, 1, "target.instructions.mean")
    assert (missing.text, missing.why) == ("–", "--verify host")
    why = ("--verify host", report["not_available"]["target.time"])
    assert [one.text for one in table[1:]] == [f"cortex-m7: {one}" for one in why]


def test_the_host_that_checked_the_same_c_has_a_row(report):
    table = target_and_host(report)
    assert [row[0] for row in table[0].texts()] == ["cortex-m7", "host"]
    assert cell(table, 1, "verification.exact.target.queries").text != "–"
    assert cell(table, 1, "memory.flash_bytes").text == "–"


def test_a_compilation_for_the_host_has_one_row_with_its_own_check(report):
    report["target"].update(name="host", emulator=None, part=None)
    report["verification"]["exact"]["target"] = None
    table = target_and_host(report)
    assert [row[0] for row in table[0].texts()] == ["host"]
    assert table[0].texts()[0][1] == "–"
    assert cell(table, 0, "verification.exact.target.mismatches").text == "0"


def test_what_only_the_host_checked_is_not_said_of_a_board(report):
    report["verification"]["exact"]["target"] = None
    report["not_available"]["verification.exact.target"] = "--verify host"
    assert values_of(report)["queries"] is None
    assert cell(target_table([report]), 0, "verification.exact.target.queries").text == "–"


def test_flash_that_was_not_built_is_missing_rather_than_too_small(report):
    report["memory"].update(flash_is_lower_limit=True, code_bytes=None)
    report["not_available"]["memory.code_bytes"] = "no compiler"
    assert values_of(report)["flash_bytes"] is None
    assert cell(target_table([report]), 0, "memory.flash_bytes").why == "no compiler"
