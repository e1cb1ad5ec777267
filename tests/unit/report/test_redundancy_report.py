"""`--redundancy`: what is refused, and the copies in report.json and in the budget."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import kmcompile
from kit.packages import fitted
from kmcompile.cli import run
from kmcompile.errors import BudgetError, UsageError
from kmcompile.program.redundancy import BLOCK_WORDS


def compiled(**options: Any) -> Any:
    return kmcompile.compile_model(fitted("iris"), mode="exact", name="iris", **options)


@pytest.mark.parametrize("given", [0, 1, 3, -2, 2.0, True, "two", "1"])
def test_another_number_of_copies_than_2_is_refused(given: Any) -> None:
    with pytest.raises(UsageError, match=r"^--redundancy .*: must be 2, a second copy") as told:
        compiled(redundancy=given, verify="none")
    assert "leave it out for one copy" in str(told.value)


def test_the_command_line_refuses_it_with_code_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "m.pkl").write_bytes(b"")
    assert run([str(tmp_path / "m.pkl"), "--redundancy", "3"]) == 2
    assert "--redundancy 3: must be 2" in capsys.readouterr().err


def test_rust_is_refused() -> None:
    with pytest.raises(UsageError, match=r"rust \(its crate declares the self-test of one copy\)"):
        compiled(redundancy=2, package="rust", verify="none")


def test_the_report_has_the_copies_and_what_they_add(tmp_path: Path) -> None:
    out = tmp_path / "iris-host"
    report = compiled(redundancy="2", verify="host", out=out).report
    plain = compiled(verify="none").report
    own = report["redundancy"]
    once = sum(table["bytes"] for table in plain["memory"]["tables"])
    assert own["table_bytes"] == 2 * once == sum(t["bytes"] for t in report["memory"]["tables"])
    assert own["checksum_bytes"] == 8 * own["blocks"] and own["block_words"] == BLOCK_WORDS
    n_tables = len(plain["memory"]["tables"])
    assert own["added_bytes"] == once + own["checksum_bytes"] - 4 * n_tables
    assert report["tool"]["command"].endswith("--redundancy 2")
    assert "Two copies of every table" in (out / "report.html").read_text()
    assert plain["redundancy"] is None
    assert "--redundancy 2" in plain["not_available"]["redundancy"]


def test_the_flash_budget_counts_both_copies() -> None:
    once = sum(table["bytes"] for table in compiled(verify="none").report["memory"]["tables"])
    budget = 2 * once - 1
    assert compiled(verify="none", target="cortex-m4", max_flash=100_000, redundancy=2).report
    with pytest.raises(BudgetError, match="leave out --redundancy"):
        compiled(verify="none", max_flash=budget, redundancy=2)
