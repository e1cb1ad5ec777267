"""External programs: finding and running them, and the command that installs missing ones."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

from kmcompile.errors import FullError, ToolError
from kmcompile.target import Target
from kmcompile.tools.patience import POLL_S, Patience

SIMAVR = "simavr"
SIMAVR_PACKAGES = ("simavr", "libsimavr-dev", "libelf-dev")
SIMAVR_INCLUDE = "/usr/include/simavr"
_SIMAVR_HEADERS = (f"{SIMAVR_INCLUDE}/sim_avr.h", "/usr/include/libelf.h")

_OUTPUT_LINES = 2  # an error is one to three lines: what failed, then what the tool said first
_TELLING = re.compile(r"error: (?!ld returned)|undefined reference|overflowed|will not fit")
_FULL = re.compile(r"no space (is )?left|disk quota exceeded", re.IGNORECASE)
_VERSION_TIMEOUT_S = 20.0


@dataclass(frozen=True, slots=True)
class Tool:
    """A compiler or an emulator that a target needs, and where this machine has it.

    Attributes
    ----------
    purpose : str
        Such as "compiler", "emulator" or "instruction counter".
    path, version : str or None
        None if the program is missing.
    packages : tuple of str
        The Debian packages that provide the program.
    """

    purpose: str
    command: str
    path: str | None
    version: str | None
    packages: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """Which tools of a target, or of the evidence, are here and which are missing.

    Attributes
    ----------
    target : str
        Name of the target, or "evidence".
    ready : bool
        Whether C can be built and run for the target. What counts instructions and cycles may be
        missing.
    missing_packages : tuple of str
        Debian packages that provide every missing tool.
    install_command : str or None
        The command that installs `missing_packages`; None if no tool is missing.
    """

    target: str
    tools: tuple[Tool, ...]
    ready: bool
    missing_packages: tuple[str, ...]
    install_command: str | None


def install_command(packages: Iterable[str]) -> str:
    """Return the command that installs Debian packages.

    Examples
    --------
    >>> install_command(["gcc", "qemu-system-arm"])
    'sudo apt-get install --no-install-recommends gcc qemu-system-arm'
    """
    return "sudo apt-get install --no-install-recommends " + " ".join(dict.fromkeys(packages))


def diagnose(targets: Iterable[Target]) -> tuple[Diagnosis, ...]:
    """Look for the compiler, the emulator, the instruction counter and the simulator of targets.

    The instruction counter of an emulated target is the host's `gcc`, which builds a plugin of
    the emulator.
    """
    return tuple(_diagnose(target) for target in targets)


def diagnosed(name: str, needed: Iterable[tuple[str, str, tuple[str, ...]]]) -> Diagnosis:
    """Look for some programs, each given as its purpose, its command and its Debian packages."""
    tools = tuple(_look_for(*one) for one in needed)
    missing = tuple(
        dict.fromkeys(name for tool in tools if tool.path is None for name in tool.packages)
    )
    return Diagnosis(
        target=name,
        tools=tools,
        ready=not missing,
        missing_packages=missing,
        install_command=install_command(missing) if missing else None,
    )


def is_ready(target: Target) -> bool:
    """Return whether C can be built and run for a target on this machine."""
    needed = [target.compiler.command]
    if target.emulator is not None:
        needed.append(target.emulator.command)
    return all(shutil.which(command) for command in needed)


def host_compiler() -> str | None:
    """Return a C compiler of this machine, or None."""
    return next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)


def has_simavr() -> bool:
    """Return whether simavr's library is here."""
    return all(Path(header).is_file() for header in _SIMAVR_HEADERS)


def find(command: str, packages: Sequence[str]) -> str:
    """Return the path of a program.

    Raises
    ------
    ToolError
        If the program is not in PATH; the text has the command that installs it.
    """
    path = shutil.which(command)
    if path is None:
        remedy = f"\ninstall it with: {install_command(packages)}" if packages else ""
        raise ToolError(f"{command} is not installed or not in PATH{remedy}")
    return path


def run_tool(arguments: Sequence[str], cwd: Path, timeout_s: float, step: str) -> str:
    """Run a program to its end and return what it printed.

    The program gets its own process group. A timeout or an interrupt ends the whole group.

    Parameters
    ----------
    arguments : sequence of str
        The program's path and its arguments; no shell is involved.
    timeout_s : float
        Seconds that may be charged to the program (`Patience`).
    step : str
        The step's name in error messages, such as "compiling iris.c".

    Raises
    ------
    ToolError
        If the program cannot be started, fails or takes longer than the timeout.
    FullError
        If the program says that no space is left.
    """
    code, output = run_process(arguments, cwd, timeout_s, step)
    if code != 0:
        raise ToolError(failure_text(arguments[0], step, code, output))
    return output


def run_process(
    arguments: Sequence[str], cwd: Path, timeout_s: float, step: str
) -> tuple[int, str]:
    """Run a program as `run_tool` does, and return its exit code and output also if it fails.

    Raises
    ------
    ToolError
        If the program cannot be started or takes longer than the timeout.
    FullError
        If the program fails and says that no space is left.
    """
    process = start(arguments, cwd, step, subprocess.DEVNULL, subprocess.STDOUT)
    patience = Patience(process, timeout_s, step, since_start=True)
    try:
        while True:
            with contextlib.suppress(subprocess.TimeoutExpired):
                output, _ = process.communicate(timeout=POLL_S)
                break
            patience.check()
    finally:
        end_group(process)
    text = output.decode(errors="replace")
    if process.returncode != 0 and _FULL.search(text):
        raise FullError(f"{step}: {Path(arguments[0]).name} found no space for temporary files")
    return process.returncode, text


def start(
    arguments: Sequence[str], cwd: Path, step: str, stdin: int | IO[bytes], stderr: int | IO[bytes]
) -> subprocess.Popen[bytes]:
    """Start a program in its own process group, with a pipe of bytes for its standard output.

    Raises
    ------
    ToolError
        If the program cannot be started.
    """
    environment = os.environ | {"LC_ALL": "C", "QEMU_AUDIO_DRV": "none"}
    try:
        return subprocess.Popen(
            arguments,
            cwd=cwd,
            env=environment,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=stderr,
            start_new_session=True,
        )
    except OSError as error:
        raise ToolError(f"{step}: cannot start {arguments[0]}: {error.strerror}") from error


def failure_text(program: str, step: str, code: int, output: str) -> str:
    """Return the lines of an error: the step, the exit code, and the tool's first error lines."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.search(line)] or lines
    how = f"exit code {code}" if code >= 0 else f"signal {-code}"
    head = f"{step}: {Path(program).name} failed with {how}"
    return "\n".join([head, *(line[:300] for line in telling[:_OUTPUT_LINES])])


def ending_with_this_process(arguments: Sequence[str]) -> list[str]:
    """Return the command of a program that ends when this process ends, even if it is killed.

    The command needs util-linux; without util-linux `arguments` are returned unchanged.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None or shutil.which(arguments[0]) is None:
        return list(arguments)
    return [setpriv, "--pdeathsig", "KILL", *arguments]


def end_group(process: subprocess.Popen[bytes]) -> None:
    """End every process left in a process group, and wait for the group's leader."""
    if process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            pipe.close()


def _diagnose(target: Target) -> Diagnosis:
    needed = [("compiler", target.compiler.command, target.compiler.packages)]
    if target.emulator is not None:
        needed.append(("emulator", target.emulator.command, target.emulator.packages))
        counter = Path(host_compiler() or "gcc").name
        needed.append(("instruction counter", counter, ("gcc", "libc6-dev")))
    if target.time is not None and target.time.simulator:
        needed.append(("cycle simulator", SIMAVR, SIMAVR_PACKAGES))
    return replace(diagnosed(target.name, needed), ready=is_ready(target))


def _look_for(purpose: str, command: str, packages: tuple[str, ...]) -> Tool:
    path = shutil.which(command)
    version = version_of(path) if path else None
    if command == SIMAVR and path:  # its library is used, and it does not tell its version
        path, version = (path, "here") if has_simavr() else (None, None)
    return Tool(purpose, command, path, version, packages)


def version_of(path: str) -> str | None:
    """Return the first line of `--version`, or None if the program does not work."""
    try:
        output = run_tool([path, "--version"], Path("/"), _VERSION_TIMEOUT_S, "asking its version")
    except ToolError:
        return None
    return output.splitlines()[0].strip() if output.strip() else None
