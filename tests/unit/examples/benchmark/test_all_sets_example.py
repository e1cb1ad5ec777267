"""The benchmark of all sets: the halves, the parts of a set, what is not done again, the tables."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import kmcompile
from kit.tools import need

_FOLDER = Path(kmcompile.__file__).resolve().parents[1] / "examples" / "benchmark"
_MODULES = ("all_sets", "sets_data", "sets_machine", "sets_compile", "sets_table")


@pytest.fixture
def all_sets(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Return the example, with one made-up set of each half as its data."""
    monkeypatch.syspath_prepend(str(_FOLDER))
    for name in _MODULES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    import all_sets
    import sets_data

    monkeypatch.setattr(sets_data, "DATA", tmp_path)
    X = np.arange(1200, dtype=np.float32).reshape(600, 2)
    for name in ("banana", "glass"):
        y = np.arange(600) % 2
        np.savez(tmp_path / f"{name}.npz", X_train=X, y_train=y, X_test=X[:50], y_test=y[:50])
    return all_sets


def line(name: str, run: str, mean_ops: float, **more: Any) -> dict[str, Any]:
    half = "kept" if name == "glass" else "open"
    return {
        **{"set": name, "machine": "rbf", "run": run, "asked_format": "target", "half": half},
        **{"exact_ops": 100.0, "mean_ops": mean_ops, "p99_ops": 100.0, "flash_bytes": 1000},
        "instructions": {"exact": 400.0, "mean": 4 * mean_ops, "worst": 800},
        **{"certified_share": 1.0, "certified_wrong": 0, "mismatches": 0},
        **{"format": "float32", "mode": "exact", "cpu_s": 1.0, "peak_mb": 100.0, **more},
    }


def test_halves_have_no_set_in_common(all_sets: Any) -> None:
    of_half = {half: set(all_sets.names_of(half)) for half in ("open", "kept", "all")}
    assert "banana" in of_half["open"] and of_half["kept"] == {"glass"}
    assert of_half["open"] | of_half["kept"] == of_half["all"]


def test_samples_that_are_held_out_are_not_trained_on(all_sets: Any) -> None:
    from sets_data import Limits, parts_of

    parts = parts_of("banana", Limits(training=300, held_out=500, queries=10))
    assert [len(part) for part in (parts.X, parts.held_out, parts.queries)] == [300, 200, 10]
    assert not set(parts.X[:, 0]) & set(parts.held_out[:, 0])


def test_a_pooled_set_holds_out_test_samples_too(all_sets: Any) -> None:
    from sets_data import Limits, parts_of

    limits = Limits(training=300, held_out=500, queries=10, pooled=1)
    parts = parts_of("banana", limits)
    assert str(limits) == "300-500-10-1"
    assert [len(part) for part in (parts.X, parts.held_out, parts.queries)] == [216, 424, 10]
    assert len(parts.y_held_out) == 424


def test_few_samples_have_a_risk_that_they_support(all_sets: Any) -> None:
    run = all_sets.Run("banana", "rbf", "statistical", "float32")
    few = run.options({"held_out": 200, "deviation": None})
    many = run.options({"held_out": 10_000, "deviation": None})
    assert few["risk"] == "auto" and "risk" not in many


def test_what_is_in_the_results_is_not_done_again(
    all_sets: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = tmp_path / "results.jsonl"
    results.write_text(json.dumps(line("banana", "default", 50.0)) + "\n")
    words = ["banana", "--machines", "rbf", "--modes", "default", "--results", str(results)]
    monkeypatch.setattr(sys, "argv", ["all_sets.py", *words, "--cache", str(tmp_path)])
    monkeypatch.setattr(all_sets, "in_process", None)
    all_sets.main()
    assert len(results.read_text().splitlines()) == 1


def test_tables_of_the_halves_are_apart(all_sets: Any, capsys: pytest.CaptureFixture[str]) -> None:
    failure = {"error": "too few\nsamples", "exit_code": 3}
    gains = [("banana", 50.0), ("skin", 10.0), ("wine", 25.0)]
    lines = [line(name, "default", mean) for name, mean in gains]
    lines += [line("glass", "default", 100.0), line("wine", "default_data", 1.0, **failure)]
    all_sets.print_table(lines)
    opened, kept = capsys.readouterr().out.split("# The half that is kept aside")
    assert "| 3 | 0 | 4.00 | 1.00 | banana 2.00, wine 4.00, skin 10.00 |" in opened
    assert "- wine rbf default_data target: exit 3: too few" in opened
    assert "glass" not in opened and "| 1 | 0 | 1.00 |" in kept


def test_an_integer_program_is_compared_with_the_sum_in_float32(
    all_sets: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    integers = {"exact_ops": 40.0, "instructions": {"exact": 100.0, "mean": 80.0, "worst": 100.0}}
    lines = [line(name, "default", 40.0, format="int16", **integers) for name in ("skin", "wine")]
    all_sets.print_table([*lines, line("skin", "exact", 100.0, asked_format="float32")])
    printed = capsys.readouterr().out
    assert "| 2 | 0 | 2.50 | 1.00 | skin 2.50 | 0.200 | 0.25 |" in printed
    assert "2.50 / 80 | 1.00 / 400 | 400 |" in printed and "- / 80 |  | - |" in printed


@pytest.mark.exhaustive
@pytest.mark.target
def test_a_set_is_trained_and_compiled(
    all_sets: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for tool in ("gcc", "arm-none-eabi-gcc", "qemu-system-arm"):
        need(tool)
    words = ["iris", "--machines", "poly2", "--modes", "exact", "statistical", "--formats", "auto"]
    monkeypatch.setattr(sys, "argv", ["all_sets.py", *words, "--cache", str(tmp_path)])
    all_sets.main()
    (results,) = tmp_path.glob("*/results.jsonl")
    failed, exact = map(json.loads, results.read_text().splitlines())
    assert failed["exit_code"] == 3 and "samples" in failed["error"]
    assert exact["disagreements"] == 0 and exact["instructions"]["mean"] > 0
    assert exact["vectors"] > 0 and exact["peak_mb"] > 0
