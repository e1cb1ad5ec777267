"""Running built models: on the host in this process, on emulated boards in QEMU or simavr."""

from __future__ import annotations

from kmcompile.run.host import HostRunner
from kmcompile.run.qemu import QemuRunner
from kmcompile.run.runner import Asked, Runner, RunResult
from kmcompile.run.simavr import SimavrRunner
from kmcompile.target import Target

__all__ = ["Asked", "HostRunner", "QemuRunner", "RunResult", "Runner", "SimavrRunner", "runner_for"]


def runner_for(toolchain_target: Target) -> Runner:
    """Return the runner of artifacts that were built for this target."""
    return HostRunner() if toolchain_target.emulator is None else QemuRunner()
