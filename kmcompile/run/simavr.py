"""Running an image of an AVR in simavr, which counts clock cycles: a second machine beside QEMU."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kmcompile import resources
from kmcompile.build.artifact import Artifact
from kmcompile.errors import ToolError, UsageError
from kmcompile.machine_code import elf
from kmcompile.run import serial
from kmcompile.run.answers import (
    check_code,
    counted_entries,
    queries_of,
    read_counts,
    results_of,
    words_of_answers,
)
from kmcompile.run.runner import Asked, Counts, Runner, RunResult, checked
from kmcompile.tools import toolchain

_BUILD_TIMEOUT_S = 60.0
_BASE_TIMEOUT_S = 600.0
_TIMEOUT_S_PER_BYTE = 1e-3  # of the flash, in a query: its cycles are simulated one by one


class SimavrRunner(Runner):
    """Runs images of an AVR part that simavr knows. The host's compiler builds the simulator."""

    def run_together(
        self, artifact: Artifact, asked: Sequence[Asked], count_instructions: bool = False
    ) -> tuple[RunResult, ...]:
        """Answer the queries of all models in one run. Cycles are always counted.

        Raises
        ------
        UsageError
            If the target is no part that simavr knows.
        """
        board, asked = artifact.toolchain, checked(artifact, asked)
        time = board.time
        if time is None or not time.simulator:
            raise UsageError(f"{board.name}: simavr does not know this part")
        n_queries = sum(len(one.inputs) for one in asked)
        step = f"running {n_queries} queries on {board.name} in simavr"
        n_bytes = 4 * sum(words_of_answers(artifact, asked))
        flash_bytes = (artifact.flash_bytes or artifact.path.stat().st_size) / len(artifact.models)
        timeout_s = _BASE_TIMEOUT_S + n_queries * flash_bytes * _TIMEOUT_S_PER_BYTE
        with tempfile.TemporaryDirectory(prefix="kmcompile-run-") as holder:
            folder = Path(holder)
            (folder / "flash.bin").write_bytes(elf.flash_image(artifact.path))
            arguments = [
                str(_simulator(folder)),
                f"mcu={time.simulator}",
                f"clock={time.clock_hz}",
                *counted_entries(artifact, asked),
                "flash=flash.bin",
                "out=cycles.txt",
            ]
            code, output, answers = serial.exchange(
                arguments,
                folder,
                timeout_s,
                step,
                queries_of(artifact, asked),
                n_bytes,
                board.byte_order,
            )
            check_code(code, step)
            if code != 0:
                raise ToolError(toolchain.failure_text("simavr", step, code, output))
            counts = [
                Counts(None, "simavr counts cycles", np.repeat(rows, 2, axis=1), None)
                for rows in read_counts(folder / "cycles.txt", asked)
            ]
        return results_of(artifact, asked, answers, counts)


def is_here() -> bool:
    """Return whether the simulator can be built on this machine."""
    return toolchain.host_compiler() is not None and toolchain.has_simavr()


def _simulator(folder: Path) -> Path:
    """Build the simulator of one part with a serial port; return it.

    Raises
    ------
    ToolError
        If simavr or the host's compiler is missing; the text has the command that installs them.
    """
    compiler = toolchain.host_compiler()
    if compiler is None or not is_here():
        remedy = toolchain.install_command(("gcc", "libc6-dev", *toolchain.SIMAVR_PACKAGES))
        raise ToolError(f"simavr is not installed\ninstall it with: {remedy}")
    source = resources.templates_dir() / "plugin" / "simavr_cycles.c"
    program = folder / "simavr_cycles"
    arguments = [compiler, "-O2", f"-I{toolchain.SIMAVR_INCLUDE}", str(source), "-o", str(program)]
    libraries = ["-lsimavr", "-lelf"]
    step = "building the simulator"
    toolchain.run_tool([*arguments, *libraries], folder, _BUILD_TIMEOUT_S, step)
    return program
