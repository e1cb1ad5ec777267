"""Running an image in QEMU's system emulation; `Boot.exchange` says how queries reach it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kmcompile import resources
from kmcompile.build.artifact import Artifact
from kmcompile.errors import ToolError
from kmcompile.machine_code import elf
from kmcompile.machine_code.cycles.image_cycles import ImageCycles
from kmcompile.machine_code.worst_case.disassembly import disassemble
from kmcompile.run import serial
from kmcompile.run.answers import (
    check_code,
    counted_entries,
    queries_of,
    read_counts,
    results_of,
    words_of_answers,
    written,
)
from kmcompile.run.runner import Asked, Counts, Runner, RunResult, checked
from kmcompile.target import Emulator
from kmcompile.tools import toolchain

_PLUGIN_TIMEOUT_S = 60.0
_BASE_TIMEOUT_S = 60.0
# Generous: a query reads each byte of the tables about twice, which takes 25 ns with an FPU and
# 300 ns in software floating point on a desktop machine.
_TIMEOUT_S_PER_BYTE = 1e-6
_FEW_INSTRUCTIONS = 20  # of one multiply-add; software floats take more


class QemuRunner(Runner):
    """Runs images of one emulated board, each in its own process and folder."""

    def __init__(self, timeout_s: float | None = None) -> None:
        """Take a time limit in seconds; by default the limit grows with queries and tables."""
        self._timeout_s = timeout_s

    def run_together(
        self, artifact: Artifact, asked: Sequence[Asked], count_instructions: bool = False
    ) -> tuple[RunResult, ...]:
        """Answer the queries of all models in one run, and count instructions as `run` does."""
        asked = checked(artifact, asked)
        n_bytes = 4 * sum(words_of_answers(artifact, asked))
        with tempfile.TemporaryDirectory(prefix="kmcompile-run-") as holder:
            folder = Path(holder)
            (folder / "image.elf").symlink_to(artifact.path)
            plugin = _Plugin([], "not asked", "not asked")
            if count_instructions:
                plugin = _plugin(artifact, folder, asked)
            queries, n_queries = queries_of(artifact, asked), sum(len(one.inputs) for one in asked)
            answers = self._emulate(artifact, folder, plugin.arguments, queries, n_queries, n_bytes)
            counts = _counts(folder / "counts.txt", asked, plugin)
        return results_of(artifact, asked, answers, counts)

    def _emulate(
        self,
        artifact: Artifact,
        folder: Path,
        plugin: list[str],
        queries: bytes,
        n_queries: int,
        n_bytes: int,
    ) -> bytes:
        """Run the emulator; return the bytes of all records and summaries."""
        board, emulator = artifact.toolchain, _emulator(artifact)
        program = toolchain.find(emulator.command, emulator.packages)
        step = f"running {n_queries} queries on {board.name}"
        timeout_s = self._timeout_s or _timeout_s(artifact, n_queries)
        command = [program, "-M", emulator.machine, *plugin, *emulator.arguments]
        exchange = board.boot.exchange if board.boot else "semihosting"
        over_port = queries if exchange == "serial" else b""
        (folder / "queries.bin").write_bytes(queries)
        if exchange == "semihosting":
            ending = toolchain.ending_with_this_process(command)
            code, output = toolchain.run_process(ending, folder, timeout_s, step)
            answers = written(folder / "answers.bin", board.name) if code == 0 else b""
        else:
            code, output, answers = serial.exchange(
                command, folder, timeout_s, step, over_port, n_bytes, board.byte_order
            )
        check_code(code, step)
        if code != 0:
            raise ToolError(toolchain.failure_text(program, step, code, output))
        return answers


def _emulator(artifact: Artifact) -> Emulator:
    if artifact.toolchain.emulator is None:
        raise ToolError(f"{artifact.toolchain.name}: has no emulator; it runs on the host")
    return artifact.toolchain.emulator


def _timeout_s(artifact: Artifact, n_queries: int) -> float:
    flash_bytes = artifact.flash_bytes or artifact.path.stat().st_size
    of_one_model = flash_bytes / len(artifact.models)
    slowness = max(1.0, artifact.toolchain.cost.float32.product / _FEW_INSTRUCTIONS)
    return _BASE_TIMEOUT_S + n_queries * of_one_model * _TIMEOUT_S_PER_BYTE * slowness


@dataclass(frozen=True, slots=True)
class _Plugin:
    """The counting plugin.

    Attributes
    ----------
    arguments : list of str
        What QEMU takes for it; empty if nothing is counted.
    no_counts, no_cycles : str or None
        The reason why instructions and cycles are not counted; None if they are.
    """

    arguments: list[str]
    no_counts: str | None
    no_cycles: str | None


def _plugin(artifact: Artifact, folder: Path, asked: Sequence[Asked]) -> _Plugin:
    """Build the counting plugin, and write the cycles of the instructions for it."""
    compiler = toolchain.host_compiler()
    if compiler is None:
        reason = "no C compiler on the host to build the counter: install gcc and libc6-dev"
        return _Plugin([], reason, reason)
    source = resources.templates_dir() / "plugin" / "count_calls.c"
    arguments = [compiler, "-O2", "-shared", "-fPIC", str(source), "-o", "count_calls.so"]
    try:
        toolchain.run_tool(arguments, folder, _PLUGIN_TIMEOUT_S, "building the counter")
    except ToolError as error:
        reason = str(error).splitlines()[0]
        return _Plugin([], reason, reason)
    traps = elf.section_span(artifact.path, ".start")
    given = [f"traps={traps.start:#x}", f"traps_end={traps.stop:#x}", "out=counts.txt"]
    no_cycles = _write_cycles(artifact, folder / "cycles.txt")
    if no_cycles is None:
        given.append("cycles=cycles.txt")
    words = ["./count_calls.so", *counted_entries(artifact, asked), *given]
    return _Plugin(["-plugin", ",".join(words)], None, no_cycles)


def _write_cycles(artifact: Artifact, path: Path) -> str | None:
    """Write the cycles of the image's instructions; return the reason if they are not known."""
    time = artifact.toolchain.time
    if time is None or not time.core:
        return (time and time.unknown) or "the cycles of this core are not known"
    program = disassemble(artifact.path, artifact.toolchain.compiler)
    path.write_text(ImageCycles(program, time.core).table(), encoding="ascii")
    return None


def _counts(path: Path, asked: Sequence[Asked], plugin: _Plugin) -> list[Counts]:
    """Return what the plugin counted of each model."""
    if not plugin.arguments:
        return [Counts(None, plugin.no_counts, None, plugin.no_cycles)] * len(asked)
    found: list[Counts] = []
    for rows in read_counts(path, asked):
        cycles, reason = rows[:, 1:], plugin.no_cycles
        if reason is None and (cycles < 0).any():
            reason = "a query executed instructions whose cycles are not known"
        found.append(Counts(rows[:, 0], None, None if reason else cycles, reason))
    return found
