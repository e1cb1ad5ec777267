"""The benchmark of the grid: its combinations, the risk of few samples, the best of the grid."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

import kmcompile

_FOLDER = Path(kmcompile.__file__).resolve().parents[1] / "examples" / "benchmark"
_MODULES = ("grid", "grid_table", "all_sets", "sets_data", "sets_machine", "sets_table")


@pytest.fixture
def grid(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(_FOLDER))
    for name in _MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    import grid

    return grid


def line(run: str, numbers: tuple[float, float, float], **more: Any) -> dict[str, Any]:
    """Return a line of the results of wine."""
    mean, worst, flash = numbers
    return {
        **{"set": "wine", "machine": "rbf", "with_data": True, "run": run},
        **{"features": 2, "classes": 2, "vectors": 9, "held_out": 900, "queries": 50},
        **{"options": {"risk": 0.01}, "certified_share": 0.5, "disagreements": 0},
        **{"instructions": {"mean": mean, "worst": worst}, "flash_bytes": flash},
        **{"format": "int8", "vectors_after": 4, "stages": [{"name": "fixed_sum"}], **more},
    }


def test_grid_has_24_combinations_and_with_the_three_aims_18_without_samples(grid: Any) -> None:
    with_data, without = grid.combinations(True), grid.combinations(False)
    assert len(with_data) == 1 + 3 + 24 and len(without) == 1 + 18
    assert not any(options.get("data") for options in without.values())
    exact = [options for name, options in with_data.items() if "reduce=off mode=exact" in name]
    assert len(exact) == 3 and not any("data" in options for options in exact)


@pytest.mark.parametrize(("held_out", "risk"), [(900, 0.01), (200, 0.05)])
def test_few_samples_have_a_risk_that_they_support(
    grid: Any, monkeypatch: pytest.MonkeyPatch, held_out: int, risk: float
) -> None:
    monkeypatch.setattr(sys, "argv", ["grid.py"])
    monkeypatch.setattr(grid, "in_process", lambda *_: ("{}", None))
    facts = {"held_out": held_out}
    for options, expected in (({"data": True}, risk), ({"data": True, "mode": "certified"}, None)):
        told = grid.measured(Path("wine-rbf.joblib"), options, facts, grid.parsed())
        assert told["options"].get("risk") == expected


def test_table_has_the_best_that_keeps_the_promise(
    grid: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    exact = "reduce=off mode=exact format="
    lines = [
        line("default", (100.0, 300.0, 1000.0)),
        line("optimize=mean", (90.0, 400.0, 1000.0)),
        line("reduce=auto optimize=mean", (80.0, 250.0, 900.0)),
        line("reduce=auto optimize=flash", (120.0, 200.0, 800.0)),
        line(f"{exact}int8", (10.0, 10.0, 10.0), options={}),
        line(f"{exact}float32", (400.0, 450.0, 4000.0), options={}, certified_share=1.0),
        line("reduce=off optimize=mean", (1.0, 1.0, 1.0), error="too few\nmore", exit_code=3),
    ]
    results = tmp_path / "grid.jsonl"
    results.write_text("".join(json.dumps(one) + "\n" for one in lines))
    monkeypatch.setattr(sys, "argv", ["grid.py", "--table", "--results", str(results)])
    grid.main()
    printed = capsys.readouterr().out
    assert "| best of the grid | 80 | 200 | 800 |" in printed
    assert "| default / best | 1.250 | 1.500 | 1.250 |" in printed
    assert "| optimize=mean / best | 1.125 | 2.000 | 1.250 |" in printed
    assert printed.count("| exact float32 / default | 4.000 | 1.500 | 4.000 |") == 2
    assert printed.count("better in all three") == 1
    assert "- better in all three: reduce=auto optimize=mean: 1.250 1.200 1.111" in printed
    assert "- does not count: reduce=off mode=exact format=int8: int8, 4 of 9 vectors" in printed
    assert "- exit 3: too few: reduce=off optimize=mean\n" in printed
    assert max(map(len, printed.splitlines())) <= 100
