"""Runs an image in QEMU's system emulation; queries and answers go by files or a serial port."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import numpy.typing as npt

from kmcompile import resources
from kmcompile.build import elf, toolchain
from kmcompile.build.artifact import Artifact
from kmcompile.build.image import SUMMARY_MAGIC
from kmcompile.errors import ToolError
from kmcompile.run import serial
from kmcompile.run.runner import Counted, RunResult, Words, checked_inputs
from kmcompile.target import Emulator

_PLUGIN_TIMEOUT_S = 60.0
_BASE_TIMEOUT_S = 60.0
# Generous: a query reads each byte of the tables about twice, which takes 25 ns with an FPU and
# 300 ns in software floating point on a desktop machine.
_TIMEOUT_S_PER_BYTE = 1e-6
_SUMMARY_WORDS = 5
_FAULT_CODE = 99
_WORD_TYPES = {"little": "<u4", "big": ">u4"}
_EXIT_CODES = {
    2: "could not open its files",
    3: "holds another harness than the recipe says",
    4: "could not write its answers",
    _FAULT_CODE: "took a fault (bad address, undefined instruction or stack overflow)",
}


class QemuRunner:
    """Runs images of one emulated board, each run in a process and folder of its own."""

    def __init__(self, timeout_s: float | None = None) -> None:
        """Take a time limit in seconds; by default it grows with the work."""
        self._timeout_s = timeout_s

    def run(
        self,
        artifact: Artifact,
        inputs: Words,
        count_instructions: bool = False,
        counted: Counted = "classify",
    ) -> RunResult:
        """Answer all queries, and count the instructions of each if there is a host compiler."""
        inputs = checked_inputs(artifact, inputs)
        with tempfile.TemporaryDirectory(prefix="kmcompile-run-") as holder:
            folder = Path(holder)
            word = np.dtype(_WORD_TYPES[artifact.toolchain.byte_order])
            queries = inputs.astype(word).tobytes()
            (folder / "image.elf").symlink_to(artifact.path)
            plugin: list[str] = []
            reason: str | None = "not asked"
            if count_instructions:
                plugin, reason = _plugin(artifact, folder, counted)
            answers = self._emulate(artifact, folder, plugin, queries, len(inputs))
            instructions = _counts(folder / "counts.txt", len(inputs)) if plugin else None
        words = np.frombuffer(answers[: len(answers) // 4 * 4], dtype=word).astype(np.uint32)
        records, summary = words[:-_SUMMARY_WORDS], words[-_SUMMARY_WORDS:]
        expected = len(inputs) * artifact.recipe.record_words
        if summary.size != _SUMMARY_WORDS or summary[0] != SUMMARY_MAGIC:
            raise ToolError(f"{artifact.toolchain.name}: the emulated program wrote no summary")
        if summary[1] != len(inputs) or records.size != expected:
            raise ToolError(
                f"{artifact.toolchain.name}: {summary[1]} of {len(inputs)} queries were answered"
            )
        painted = max(
            int(summary[2]) - artifact.query_frame_bytes,
            int(summary[3]) - artifact.self_test_frame_bytes,
        )
        return RunResult(
            records=records.reshape(len(inputs), artifact.recipe.record_words),
            instructions=instructions,
            no_instructions_reason=reason,
            painted_stack_bytes=painted,
            self_test=int(summary[4]),
        )

    def _emulate(
        self, artifact: Artifact, folder: Path, plugin: list[str], queries: bytes, n_queries: int
    ) -> bytes:
        """Return the bytes of all records and the summary."""
        board, emulator = artifact.toolchain, _emulator(artifact)
        program = toolchain.find(emulator.command, emulator.packages)
        what = f"running {n_queries} queries on {board.name}"
        timeout_s = self._timeout_s or _timeout_s(artifact, n_queries)
        command = [program, "-M", emulator.machine, *plugin, *emulator.arguments]
        if board.boot is not None and board.boot.exchange == "serial":
            n_bytes = 4 * (n_queries * artifact.recipe.record_words + _SUMMARY_WORDS)
            code, output, answers = serial.exchange(
                command, folder, timeout_s, what, queries, n_bytes, board.byte_order
            )
        else:
            (folder / "queries.bin").write_bytes(queries)
            code, output = toolchain.run_process(command, folder, timeout_s, what)
            answers = (folder / "answers.bin").read_bytes() if code == 0 else b""
        if code in _EXIT_CODES:
            raise ToolError(f"{what}: the emulated program {_EXIT_CODES[code]}")
        if code != 0:
            raise ToolError(toolchain.failure_text(program, what, code, output))
        return answers


def _emulator(artifact: Artifact) -> Emulator:
    if artifact.toolchain.emulator is None:
        raise ToolError(f"{artifact.toolchain.name}: has no emulator; it runs on the host")
    return artifact.toolchain.emulator


def _timeout_s(artifact: Artifact, n_queries: int) -> float:
    flash_bytes = artifact.flash_bytes or artifact.path.stat().st_size
    return _BASE_TIMEOUT_S + n_queries * flash_bytes * _TIMEOUT_S_PER_BYTE


def _plugin(artifact: Artifact, folder: Path, counted: Counted) -> tuple[list[str], str | None]:
    """Build the counter; return QEMU's arguments for it, or none and the reason."""
    compiler = toolchain.host_compiler()
    if compiler is None:
        return [], "no C compiler on the host to build the counter: install gcc and libc6-dev"
    source = resources.templates_dir() / "plugin" / "count_calls.c"
    arguments = [compiler, "-O2", "-shared", "-fPIC", str(source), "-o", "count_calls.so"]
    try:
        toolchain.run_tool(arguments, folder, _PLUGIN_TIMEOUT_S, "building the counter")
    except ToolError as error:
        return [], str(error).splitlines()[0]
    entry = elf.function_address(artifact.path, f"{artifact.recipe.name}_{counted}")
    return ["-plugin", f"./count_calls.so,entry={entry:#x},out=counts.txt"], None


def _counts(path: Path, n_queries: int) -> npt.NDArray[np.int64]:
    """Return the counts of the queries; the self-test, which runs after them, may add calls."""
    counts = np.array(path.read_text(encoding="ascii").split(), dtype=np.int64)
    if len(counts) < n_queries:
        raise ToolError(f"the counter saw {len(counts)} calls of {n_queries} queries")
    return counts[:n_queries]
