"""Which programs a test needs: missing ones are a skip for a person and a failure in CI."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from kmcompile.run.rtl import PACKAGES
from kmcompile.target import Target
from kmcompile.target.cores import CORES

HANGS_S = 3600.0
"""Seconds after which a program is taken to hang, however busy or slow the machine is."""

FAST = "-O1"
"""What builds C for the host in less than half the time of its own level, where the test is of
something else: levels have `test_c_matches_interpreter` and `test_levels_of_options`."""


def need_logic(core: str) -> None:
    """Skip the test if the simulator of a core cannot be built on this machine."""
    if not all(shutil.which(tool) for tool in PACKAGES) or CORES[core].folder() is None:
        pytest.skip(f"not installed: verilator or {core}; make rtl installs both")


def need(*commands: str) -> None:
    """Skip the test if a program is missing; in CI that is a failure."""
    missing = [command for command in commands if shutil.which(command) is None]
    if missing and os.environ.get("CI") == "true":
        pytest.fail(f"missing in CI: {', '.join(missing)}")
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)}")


def need_tools(target: Target) -> None:
    """Skip the test if the tools of a target are missing; in CI that is a failure."""
    emulator = [target.emulator.command] if target.emulator else []
    need(target.compiler.command, *emulator)


def run(command: Iterable[str | Path], timeout_s: float = HANGS_S) -> subprocess.CompletedProcess:
    """Run a program, its output captured as text."""
    return subprocess.run(
        [str(word) for word in command],
        capture_output=True,
        text=True,
        timeout=timeout_s,
        check=False,
    )


def succeed(command: Iterable[str | Path], timeout_s: float = HANGS_S) -> str:
    """Run a program that must succeed; return its standard output."""
    done = run(command, timeout_s)
    assert done.returncode == 0, f"{done.args}\n{done.stdout}\n{done.stderr}"
    return done.stdout
