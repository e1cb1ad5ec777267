"""Running built models: on the host in this process, on boards in an emulator or simulator."""

from __future__ import annotations

from kmcompile.run.host import HostRunner
from kmcompile.run.qemu import QemuRunner
from kmcompile.run.rtl import RtlRunner
from kmcompile.run.runner import Asked, Runner, RunResult
from kmcompile.run.simavr import SimavrRunner
from kmcompile.target import Target
from kmcompile.target.cores import CORES, SIMAVR

__all__ = [
    "Asked",
    "HostRunner",
    "QemuRunner",
    "RtlRunner",
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
        One of `MACHINES`, or "" for the target's own emulator or the host.
    """
    if on == SIMAVR:
        return SimavrRunner()
    if on in CORES:
        return RtlRunner()
    return HostRunner() if toolchain_target.emulator is None else QemuRunner()
