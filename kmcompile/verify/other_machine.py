"""Another machine than the target's emulator for the exact check, and the cycles it measured."""

from __future__ import annotations

from typing import Any

from kmcompile.errors import UsageError
from kmcompile.target import Target, list_targets
from kmcompile.text.figures import count_text, small_text
from kmcompile.verify.findings import Findings


def check_machine(target: Target, on: str) -> None:
    """Check that a machine simulates the part of a target; "" is the target's emulator.

    Raises
    ------
    UsageError
        If it does not.
    """
    if on and not _is_known(target):
        known = ", ".join(one.name for one in list_targets() if _is_known(one))
        raise UsageError(f"--on {on}: it simulates {known}, the folder is for {target.name}")


def _is_known(target: Target) -> bool:
    return target.time is not None and target.time.simulator != ""


def measured_on(target: Target, on: str, findings: Findings) -> dict[str, Any]:
    """Return the measured cycles of the accepted queries, and the seconds that they take."""
    assert target.time is not None and target.time.clock_hz is not None
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
        f"{name} {count_text(cycles)} cycles ({small_text(1e3 * cycles / hertz)} ms)"
        for name, cycles in (
            ("mean", measured["mean_cycles"]),
            ("largest", measured["max_cycles"]),
            ("static worst case", measured["worst_cycles"]),
        )
        if cycles is not None
    ]
    return f"{measured['machine']} at {small_text(hertz / 1e6)} MHz: {', '.join(parts)}"
