"""The time of a query in the report: what it is, its text, and why there is none."""

from __future__ import annotations

from dataclasses import replace
from io import StringIO

import numpy as np
import pytest
from rich.console import Console
from sample_report import make_report

from kit.catalogue import CORE
from kmcompile.machine_code.worst_case import WorstCase
from kmcompile.report.choices import CAPTION, choice_rows, choices_parts
from kmcompile.report.cost_plots import _in_time
from kmcompile.report.json_report import to_dict
from kmcompile.report.measured import measured_facts
from kmcompile.report.missing import Missing
from kmcompile.report.terminal import print_report
from kmcompile.report.time_section import Pace, pace_of, time_facts, time_of
from kmcompile.target import load_target
from kmcompile.verify.findings import Findings

M4 = load_target("cortex-m4")
CYCLES = np.array([[100, 200], [300, 500]])
WORST = WorstCase(400, 400, None, 1000)


def found(cycles=CYCLES, worst=WORST, no_cycles=""):
    """Return the findings of a run in which cycles were counted."""
    return Findings(
        source="generated",
        host=None,
        target=None,
        skipped={},
        check=None,
        memory=None,
        instructions=None,
        worst_case=worst,
        cycles=cycles,
        no_cycles=no_cycles,
    )


def time(target=M4, **findings):
    """Return the time of a program without early exits."""
    emitted = CORE[0].emit("cortex-m4")
    answers = emitted.answers
    return time_of(emitted.program, target, found(**findings), answers, None)


def test_cycles_and_seconds_are_those_of_the_queries():
    clock = M4.time.clock_hz
    assert time() == {
        "what": "modelled",
        "core": "cortex-m4",
        "clock_hz": clock,
        "flash_wait_states": M4.time.flash_wait_states,
        "least_mean_cycles": 200.0,
        "mean_cycles": 350.0,
        "max_cycles": 500,
        "worst_cycles": 1000,
        "least_mean_seconds": 200.0 / clock,
        "mean_seconds": 350.0 / clock,
        "max_seconds": 500 / clock,
        "worst_seconds": 1000 / clock,
        "queries": 2,
    }


@pytest.mark.parametrize("name", ["cortex-m7", "host"])
def test_a_core_of_unknown_cycles_has_a_reason(name):
    target = load_target(name)
    missing = time(target)
    assert isinstance(missing, Missing)
    assert missing.why == (
        target.time.unknown if target.time else "the cycles of host are not known"
    )


def test_what_was_not_counted_or_bounded_has_a_reason():
    assert time(cycles=None, no_cycles="--verify host") == Missing("--verify host")
    unbounded = time(worst=replace(WORST, cycles=None, no_cycles="'dsb sy' is not known"))
    assert (
        unbounded["worst_cycles"] == unbounded["worst_seconds"] == Missing("'dsb sy' is not known")
    )
    assert time(worst=None)["worst_cycles"] == Missing("the target was not run")
    silent = replace(M4, time=replace(M4.time, flash_wait_states=None))
    assert "flash waits" in time(silent)["flash_wait_states"].why


def text(**changed):
    """Return label and value of the line that tells the time."""
    own = {
        "what": "modelled",
        "clock_hz": 16_000_000,
        "flash_wait_states": 0,
        "least_mean_seconds": 0.001,
        "mean_seconds": 0.001,
        "max_seconds": 0.002,
        "worst_seconds": 0.003,
    }
    (fact,) = time_facts({"target": {"time": own | changed}})
    return fact.label, fact.value


def test_a_time_says_what_it_is():
    label = "time at 16 MHz, modelled"
    assert text() == (label, "mean 1 ms, largest 2 ms, static worst case 3 ms")
    assert text(least_mean_seconds=0.0005) == (
        label,
        "mean 0.5 to 1 ms, largest 2 ms, static worst case 3 ms",
    )
    short = "mean 1 ms, largest 2 ms, without"
    for waits, told in ((5, "the 5 waits of the flash"), (None, "waits of the flash")):
        assert text(worst_seconds=None, flash_wait_states=waits) == (label, f"{short} {told}")


def test_without_a_time_its_reason_is_told():
    report = {"target": {"time": None}, "not_available": {"target.time": "caches"}}
    (fact,) = time_facts(report)
    assert fact.missing
    assert fact.value == "caches"


def paced(**changed):
    """Return a report whose built program takes 2 ns an instruction, at most 3 ns."""
    time = {"mean_seconds": 2e-6, "worst_seconds": 6e-6, "clock_hz": 500_000_000}
    counted = {"mean": 1000.0, "worst": 2000}
    return {"target": {"time": time, "instructions": counted} | changed}


def test_the_pace_is_that_of_the_built_program():
    assert pace_of(paced()) == Pace(2e-6 / 1000.0, 6e-6 / 2000)
    assert pace_of(paced(time=None)) is pace_of(paced(instructions=None)) is None
    unbounded = {**paced()["target"]["time"], "worst_seconds": None}
    assert pace_of(paced(time=unbounded)) == Pace(2e-6 / 1000.0, None)


CHOICE = {
    "program": "all vectors",
    "options": "--mode exact",
    "mean_estimated": 3000.4,
    "worst_estimated": 4000.0,
    "flash_estimated": 500.0,
    "proved_share": 1.0,
    "chosen": False,
}


def test_choices_have_times_where_the_pace_is_known():
    for pace, heads, cells in (
        (None, ["Mean", "Worst case"], ["3,000", "4,000"]),
        (Pace(2e-9, None), ["Mean", "ms", "Worst case"], ["3,000", "0.006", "4,000"]),
        (
            Pace(2e-9, 3e-9),
            ["Mean", "ms", "Worst case", "ms"],
            ["3,000", "0.006", "4,000", "0.012"],
        ),
    ):
        table = choice_rows([CHOICE], pace)
        assert list(table.heads) == ["Program", *heads, "Flash", "Proved", "Options"]
        assert list(table.rows[0]) == ["all vectors", *cells, "500 B", "100 %", "--mode exact"]


def test_the_table_of_choices_says_what_its_times_are():
    taken = {**CHOICE, "chosen": True, "program": "76 of 299 vectors"}
    two = {"choices": [CHOICE, taken]}
    _, text, _ = choices_parts({**paced(), **two})
    assert "if each takes as long as one of the built program" in text.text
    _, text, _ = choices_parts({**paced(time=None), **two})
    assert text.text == CAPTION


def test_the_plot_of_instructions_says_how_long_they_take():
    told = " 1,000 of them take 0.002 ms in the mean at 500 MHz, as modelled."
    assert _in_time(paced()) == told
    assert _in_time(paced(time=None)) == ""


MEASURED = {
    "counter": "dwt_cyccnt",
    "clock_hz": 480_000_000,
    "min_cycles": 1200,
    "median_cycles": 1500,
    "max_cycles": 4800,
    "min_seconds": 2.5e-6,
    "median_seconds": 3.125e-6,
    "max_seconds": 1e-5,
    "queries": 16,
}
TIME = "least 0.0025 ms, median 0.00313 ms, largest 0.01 ms"
CYCLES = "least 1,200, median 1,500, largest 4,800"


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        (
            {},
            [
                ("cycles, measured on a board", f"{CYCLES} (16 queries, dwt_cyccnt)"),
                ("time at 480 MHz, measured on a board", TIME),
            ],
        ),
        (
            {"min_seconds": None, "clock_hz": None},
            [("cycles, measured on a board", f"{CYCLES} (16 queries, dwt_cyccnt)")],
        ),
        (
            {"min_cycles": None, "clock_hz": None, "counter": "micros"},
            [("time, measured on a board", f"{TIME} (16 queries, micros)")],
        ),
    ],
)
def test_what_a_board_measured_says_so(changed, told):
    facts = measured_facts({"target": {"measured": MEASURED | changed}})
    assert [(fact.label, fact.value) for fact in facts] == told


def test_of_a_board_without_a_model_the_terminal_says_how_to_measure():
    for changed, is_told in (({}, True), ({"emulator": None}, False)):
        report = to_dict(make_report())
        report["target"] |= changed
        lines = StringIO()
        print_report(report, Console(file=lines, width=400))
        assert ("kmcompile report DIR --measured FILE" in lines.getvalue()) == is_told
