"""Another machine than the target's emulator for the exact check, and the cycles it measured."""

from __future__ import annotations

from typing import Any

from kmcompile.errors import UsageError
from kmcompile.target import Target, list_targets
from kmcompile.target.cores import CORES
from kmcompile.text.figures import count_text, small_text
from kmcompile.verify.findings import Findings


def check_machine(target: Target, on: str) -> None:
    """Check that a machine simulates the part of a target; "" is the target's emulator.

    Raises
    ------
    UsageError
        If it does not.
    """
    if on and not _is_known(target, on):
        known = ", ".join(one.name for one in list_targets() if _is_known(one, on))
        raise UsageError(f"--on {on}: it simulates {known}, the folder is for {target.name}")


def _is_known(target: Target, on: str) -> bool:
    time = target.time
    return time is not None and (time.logic == on if on in CORES else time.simulator != "")


def measured_on(target: Target, on: str, findings: Findings) -> dict[str, Any]:
    """Return the measured cycles of the accepted queries, and the clock of the part if it is known.

    A part has no clock where the machine is another core with the part's instructions.
    """
    assert target.time is not None
    assert findings.cycles is not None and findings.worst_case is not None
    counted, worst = findings.cycles[:, 1], findings.worst_case
    return {
        "machine": on,
        "clock_hz": target.time.clock_hz,
        "queries": len(counted),
        "mean_cycles": float(counted.mean()),
        "max_cycles": int(counted.max()),
        "worst_cycles": worst.cycles,
    }


def measured_text(measured: dict[str, Any]) -> str:
    """Return the line that tells what was measured."""
    hertz = measured["clock_hz"]
    parts = [
        f"{name} {count_text(cycles)} cycles{_seconds(cycles, hertz)}"
        for name, cycles in (
            ("mean", measured["mean_cycles"]),
            ("largest", measured["max_cycles"]),
            ("static worst case", measured["worst_cycles"]),
        )
        if cycles is not None
    ]
    clock = f" at {small_text(hertz / 1e6)} MHz" if hertz else ", with memory of one cycle"
    return f"{measured['machine']}{clock}: {', '.join(parts)}"


def _seconds(cycles: float, hertz: int | None) -> str:
    return f" ({small_text(1e3 * cycles / hertz)} ms)" if hertz else ""
