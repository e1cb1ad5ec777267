"""The time of a query in the report: what it is, its text, and why there is none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit.catalogue import CORE
from kmcompile.machine_code.worst_case import WorstCase
from kmcompile.report.missing import Missing
from kmcompile.report.time_section import time_facts, time_of
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
