"""Running an image of a RISC-V board on a core's own logic, which Verilator simulates."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kmcompile import resources
from kmcompile.build.artifact import Artifact
from kmcompile.errors import ToolError, UsageError
from kmcompile.machine_code import elf
from kmcompile.run.answers import (
    check_code,
    counted_entries,
    queries_of,
    read_counts,
    results_of,
    written,
)
from kmcompile.run.runner import Asked, Counts, Runner, RunResult, checked
from kmcompile.target.cores import CORES
from kmcompile.tools import toolchain

PACKAGES = ("verilator", "g++", "make")

_BUILD_TIMEOUT_S = 900.0
_BASE_TIMEOUT_S = 600.0
_TIMEOUT_S_PER_BYTE = 1e-3  # of the flash, in a query: its cycles are simulated one by one
# SYNTHESIS leaves assertions out.
_OPTIONS = (
    *("--cc", "--exe", "--build", "-j", "2", "--top-module", "board", "-DSYNTHESIS"),
    *("-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert"),
    *("-Wno-fatal", "-Wno-lint", "-Wno-style", "-CFLAGS", "-std=c++17"),
    *("-MAKEFLAGS", "OPT_FAST=-O3 OPT_SLOW=-O1 OPT_GLOBAL=-O2"),
)


class RtlRunner(Runner):
    """Runs images of boards whose instructions an open core has."""

    def __init__(self, folder: Path | None = None) -> None:
        """Take the folder that keeps the simulator; by default each run builds it anew."""
        self._folder = folder

    def run_together(
        self, artifact: Artifact, asked: Sequence[Asked], count_instructions: bool = False
    ) -> tuple[RunResult, ...]:
        """Answer the queries of all models in one run. Instructions and cycles are always counted.

        Raises
        ------
        UsageError
            If the core does not have the target's instructions.
        """
        board, asked = artifact.toolchain, checked(artifact, asked)
        if board.time is None or not board.time.logic or board.boot is None:
            raise UsageError(f"{board.name}: no core is known whose logic runs its instructions")
        flash, ram = board.boot.flash, board.boot.ram
        n_queries = sum(len(one.inputs) for one in asked)
        step = f"running {n_queries} queries of {board.name} on the logic of {board.time.logic}"
        flash_bytes = (artifact.flash_bytes or artifact.path.stat().st_size) / len(artifact.models)
        timeout_s = _BASE_TIMEOUT_S + n_queries * flash_bytes * _TIMEOUT_S_PER_BYTE
        with tempfile.TemporaryDirectory(prefix="kmcompile-run-") as holder:
            folder = Path(holder)
            program = simulator(board.time.logic, (self._folder or folder).resolve())
            (folder / "flash.bin").write_bytes(elf.flash_image(artifact.path, flash.origin))
            (folder / "queries.bin").write_bytes(queries_of(artifact, asked))
            command = [
                str(program),
                f"flash={flash.origin:#x}:{flash.bytes}",
                f"ram={ram.origin:#x}:{ram.bytes}",
                *counted_entries(artifact, asked),
                *([] if CORES[board.time.logic].is_protected else ["unprotected=1"]),
                "image=flash.bin",
                "out=counts.txt",
            ]
            ending = toolchain.ending_with_this_process(command)
            code, output = toolchain.run_process(ending, folder, timeout_s, step)
            check_code(code, step)
            if code != 0:
                raise ToolError(toolchain.failure_text(board.time.logic, step, code, output))
            answers = written(folder / "answers.bin", board.name)
            counts = [
                Counts(rows[:, 0], None, np.repeat(rows[:, 1:], 2, axis=1), None)
                for rows in read_counts(folder / "counts.txt", asked)
            ]
        return results_of(artifact, asked, answers, counts)


def simulator(name: str, folder: Path) -> Path:
    """Return the simulator of a core that a folder keeps, built if it is not there.

    Raises
    ------
    ToolError
        If Verilator or the core is missing; the text has the commands that install them.
    """
    core = CORES[name]
    logic = core.folder()
    if logic is None:
        raise ToolError(
            f"the logic of {name} is not installed\ninstall it with: pip install {core.package}"
        )
    verilator, *_ = (toolchain.find(tool, PACKAGES) for tool in PACKAGES)
    own = [resources.templates_dir() / "rtl" / file for file in (f"{name}.sv", "board.cpp")]
    options = [*_OPTIONS, *core.options]
    versions = [toolchain.version_of(verilator) or "", (logic.parent / "__init__.py").read_text()]
    parts = [*options, *core.folders, *core.files, *versions, *(path.read_text() for path in own)]
    key = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]
    program = folder / f"{name}-{key}"
    if not program.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        arguments = [verilator, *options, "--Mdir", "built", *core.sources(logic), *map(str, own)]
        with tempfile.TemporaryDirectory(prefix="kmcompile-rtl-") as holder:
            step = f"building the simulator of {name}"
            toolchain.run_tool(arguments, Path(holder), _BUILD_TIMEOUT_S, step)
            begun = folder / f"{program.name}-{os.getpid()}"
            shutil.copy2(Path(holder) / "built" / "Vboard", begun)
            begun.replace(program)
    return program
