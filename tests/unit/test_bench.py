"""`kmcompile bench`: a row for each target, the same columns printed, as CSV and as a page."""

from __future__ import annotations

import csv
import types
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from kmcompile import bench as module
from kmcompile import cli
from kmcompile.errors import BudgetError, TargetError, ToolError, VerificationError
from kmcompile.request.options import Options
from kmcompile.target import list_targets

MEMORY = {
    "flash_bytes": 41284,
    "flash_is_lower_limit": False,
    "part_flash_bytes": 2097152,
    "ram_bytes": 0,
    "part_ram_bytes": 524288,
    "workspace_bytes": 576,
    "stack_bytes": 1136,
    "painted_stack_bytes": 1120,
}
COUNTED = {"exact": 15075.7, "mean": 6483.9, "p99": 20727.2, "max": 20732.0, "queries": 284}
COUNTED |= dict.fromkeys(("worst", "worst_without_replay"))


def report(target: str) -> dict[str, Any]:
    """Return what a row is made from."""
    on_host = target == "host"
    run = {"queries": 1680, "mismatches": 0}
    return {
        "options": {"mode": "certified", "format": "float32"},
        "memory": {**MEMORY, **({"painted_stack_bytes": None} if on_host else {})},
        "target": {
            "name": target,
            "part": None if on_host else "STM32H743ZI",
            "emulator": None if on_host else "a machine",
            "instructions": None if on_host else COUNTED,
            "time": None,
        },
        "verification": {
            "exact": {"host": run, "target": None if on_host else run},
            "certified": {"certified_share": 0.9973},
        },
        "not_available": defaultdict(lambda: "not asked"),
    }


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[Options]:
    """Compile nothing: remember the options; some targets fail."""
    calls: list[Options] = []
    failing = {
        "cortex-m0": BudgetError("needs 300,000 bytes of flash, has 262,144\nreduce it"),
        "cortex-m4": ToolError("arm-none-eabi-gcc is not installed"),
        "cortex-m33": VerificationError("a bit differs"),
        "avr": TargetError("double has 32 bits\nuse --replay none"),
    }

    def compile_model(model: Path, options: Options, progress: Any, compares_modes: bool) -> Any:
        assert not compares_modes  # it would take the time of another search for each target
        progress("building")
        calls.append(options)
        if options.target in failing:
            raise failing[options.target]
        return types.SimpleNamespace(report=report(options.target))

    monkeypatch.setattr(module.pipeline, "compile_model", compile_model)
    monkeypatch.chdir(tmp_path)
    Path("m.pkl").write_bytes(b"a model")
    return calls


def test_each_target_has_a_folder_and_a_row_of_the_same_columns(
    compiled: list[Options], capsys: pytest.CaptureFixture[str]
) -> None:
    names = "host, cortex-m7"
    assert (
        cli.run(["bench", "m.pkl", "--targets", names, "--data", "m.pkl", "--mode", "exact"]) == 0
    )
    assert [call.out for call in compiled] == [Path("m-bench/host"), Path("m-bench/cortex-m7")]
    assert all((call.data, call.mode) == (Path("m.pkl"), "exact") for call in compiled)
    _head, host, board, written = capsys.readouterr().out.splitlines()
    assert host.split()[0] == "host"
    assert "41.3 KB" in board
    assert board.endswith("-")  # no worst case
    assert written == "written to m-bench: bench.csv, bench.html"
    rows = list(csv.DictReader(Path("m-bench/bench.csv").read_text().splitlines()))
    assert [row["target"] for row in rows] == ["host", "cortex-m7"]
    assert rows[0]["mean"] == rows[0]["painted_stack_bytes"] == ""
    assert rows[1]["mean"] == "6483.9"
    page = Path("m-bench/bench.html").read_text()
    for text in ("20,732", "STM32H743ZI", "radiation: no bit flips"):
        assert text in page
    assert "kmcompile bench m.pkl --targets &#39;host, cortex-m7&#39; --data m.pkl" in page


def test_a_target_that_the_model_does_not_fit_is_told_and_the_others_go_on(
    compiled: list[Options], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["bench", "m.pkl", "--targets", "cortex-m0,cortex-m4,cortex-m7"]) == 0
    out = capsys.readouterr().out
    assert "cortex-m0: needs 300,000 bytes of flash, has 262,144 reduce it" in out
    assert "cortex-m4: arm-none-eabi-gcc is not installed" in out
    assert "needs 300,000" in Path("m-bench/bench.html").read_text()


def test_an_option_that_is_not_for_one_target_stops_no_other(
    compiled: list[Options], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["bench", "m.pkl", "--targets", "cortex-m7,avr"]) == 0
    assert "avr: double has 32 bits use --replay none" in capsys.readouterr().out


def test_a_failed_verification_is_the_exit_code_of_the_whole(
    compiled: list[Options], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["bench", "m.pkl", "--targets", "cortex-m33,cortex-m7"]) == 1
    out, err = capsys.readouterr()
    assert "cortex-m7" in out
    assert "cortex-m33: a bit differs" in err


def test_where_no_target_works_the_error_is_that_of_the_compilation(
    compiled: list[Options], capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.run(["bench", "m.pkl", "--targets", "cortex-m0"]) == BudgetError.exit_code
    assert "needs 300,000 bytes" in capsys.readouterr().err
    assert not Path("m-bench").exists()


def test_all_are_all_targets(compiled: list[Options]) -> None:
    cli.run(["bench", "m.pkl", "--targets", "all", "--quiet"])
    assert [call.target for call in compiled] == [target.name for target in list_targets()]


def test_a_folder_of_somebody_else_is_left_alone(
    compiled: list[Options], capsys: pytest.CaptureFixture[str]
) -> None:
    Path("theirs").mkdir()
    Path("theirs/thesis.tex").write_text("x")
    assert cli.run(["bench", "m.pkl", "--out", "theirs"]) == 6
    assert "thesis.tex" in capsys.readouterr().err
    assert compiled == []


@pytest.mark.parametrize("names", ["cortex-m8", "cortex-m7,,host", ""])
def test_a_name_of_no_target_is_wrong_usage(names: str, compiled: list[Options]) -> None:
    assert cli.run(["bench", "m.pkl", "--targets", names]) == 2
    assert compiled == []
