"""Another machine for the exact check, and the cycles that it measured."""

from __future__ import annotations

import numpy as np
import pytest

from kmcompile.errors import UsageError
from kmcompile.machine_code.worst_case import WorstCase
from kmcompile.target import load_target
from kmcompile.verify.findings import Findings
from kmcompile.verify.other_machine import check_machine, measured_on, measured_text

AVR = load_target("avr")


@pytest.mark.parametrize("name", ["cortex-m4", "cortex-m7", "host"])
def test_a_part_that_the_machine_does_not_know_is_refused(name):
    with pytest.raises(
        UsageError, match=f"--on simavr: it simulates avr, the folder is for {name}"
    ):
        check_machine(load_target(name), "simavr")


def test_the_logic_of_a_core_runs_its_instructions_only():
    check_machine(load_target("rv32imac"), "ibex")
    check_machine(load_target("rv32imafc"), "cv32e40p")
    with pytest.raises(UsageError, match="--on ibex: it simulates rv32imac, the folder is for avr"):
        check_machine(AVR, "ibex")


def test_the_targets_own_emulator_is_never_refused():
    for name in ("avr", "cortex-m7", "host"):
        check_machine(load_target(name), "")
    check_machine(AVR, "simavr")


def test_what_was_measured_is_told_in_cycles_and_milliseconds():
    findings = Findings(
        source="generated",
        host=None,
        target=None,
        skipped={},
        check=None,
        memory=None,
        instructions=None,
        worst_case=WorstCase(1, 1, None, 48_000),
        cycles=np.array([[16_000, 16_000], [32_000, 32_000]]),
        no_cycles="",
    )
    measured = measured_on(AVR, "simavr", findings)
    assert measured == {
        "machine": "simavr",
        "clock_hz": 16_000_000,
        "queries": 2,
        "mean_cycles": 24_000.0,
        "max_cycles": 32_000,
        "worst_cycles": 48_000,
    }
    text = "simavr at 16 MHz: mean 24,000 cycles (1.5 ms), largest 32,000 cycles (2 ms)"
    assert measured_text(measured) == f"{text}, static worst case 48,000 cycles (3 ms)"
    assert measured_text(measured | {"worst_cycles": None}) == text
    other = measured | {"machine": "ibex", "clock_hz": None, "worst_cycles": None}
    text = "ibex, with memory of one cycle: mean 24,000 cycles, largest 32,000 cycles"
    assert measured_text(other) == text
