"""Running built models: on the host in this process, on emulated boards in QEMU or simavr."""

from __future__ import annotations

from kmcompile.run.host import HostRunner
from kmcompile.run.qemu import QemuRunner
from kmcompile.run.runner import Asked, Runner, RunResult
from kmcompile.run.simavr import SimavrRunner
from kmcompile.target import Target

SIMAVR = "simavr"

__all__ = [
    "SIMAVR",
    "Asked",
    "HostRunner",
    "QemuRunner",
    "RunResult",
    "Runner",
    "SimavrRunner",
    "runner_for",
]


def runner_for(toolchain_target: Target, on: str = "") -> Runner:
    """Return the runner of artifacts that were built for this target.

    Parameters
    ----------
    on : str
        "simavr", or "" for the target's own emulator or the host.
    """
    if on == SIMAVR:
        return SimavrRunner()
    return HostRunner() if toolchain_target.emulator is None else QemuRunner()
