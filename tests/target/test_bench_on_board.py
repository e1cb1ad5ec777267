"""`<name>_bench` on boards: what it counts is what the simulator counts, but for the call itself.

QEMU has no cycles: there only its answers are looked at.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from kit import benches
from kit.tools import need, need_logic, need_tools
from kmcompile.report.bench_text import BenchLine, lines_of
from kmcompile.run import QemuRunner, RtlRunner, simavr
from kmcompile.target import list_targets, load_target

FOLDER = Path(__file__).parents[2] / "build" / "rtl"
# Its arguments, the call, and what of reading the counter lies outside the two looks that the
# overhead is: instructions that are counted in the disassembly, below this many cycles.
CALL_CYCLES = 30

pytestmark = pytest.mark.target


def read_line(text: str) -> BenchLine:
    (found,), damaged = lines_of(text)
    assert damaged == 0
    return found


def check(text: str, cycles: np.ndarray) -> None:
    """Check a line against the cycles that the simulator counted of the same calls."""
    found, cycles = read_line(text), np.sort(cycles)
    assert (found.wrong, found.lost, found.queries) == (0, 0, len(cycles))
    own = cycles[0], cycles[(len(cycles) - 1) // 2], cycles[-1]
    beside = np.array([found.least, found.median, found.most]) - own
    assert beside.min() >= 0 and beside.max() <= CALL_CYCLES, (text, own)


def test_timer_1_of_an_avr_counts_the_cycles_of_simavr(tmp_path: Path) -> None:
    need("avr-gcc")
    if not simavr.is_here():
        pytest.skip("not installed: simavr")
    benches.compiled(tmp_path / "o", "avr")
    check(*benches.printed_by_simavr(tmp_path / "o", tmp_path))


@pytest.mark.few
@pytest.mark.parametrize("name", ["rv32imac", "rv32imafc"])
def test_mcycle_counts_the_cycles_of_the_logic(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = load_target(name)
    need_tools(target)
    monkeypatch.setattr(sys, "path", [*sys.path, str(FOLDER / "python")])
    need_logic(target.time.logic)
    benches.compiled(tmp_path / "o", name)
    starts = ["IRIS_BENCH_STARTS_MCYCLE"] if name == "rv32imafc" else []
    check(*benches.printed(tmp_path / "o", RtlRunner(FOLDER), *starts))


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [one.name for one in list_targets() if one.emulator])
def test_each_board_gives_the_verified_answers(name: str, tmp_path: Path) -> None:
    if name == "avr":
        pytest.skip("its interrupt needs the start-up of avr-libc, which simavr runs")
    need_tools(load_target(name))
    benches.compiled(tmp_path / "o", name)
    own = ["IRIS_BENCH_OWN_COUNTER"] if name == "leon3" else []
    found = read_line(benches.printed(tmp_path / "o", QemuRunner(), *own)[0])
    assert (found.target, found.wrong, found.queries) == (name, 0, 16)
