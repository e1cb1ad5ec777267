"""Running an image in QEMU's system emulation; `Boot.exchange` says how queries reach it."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kmcompile import resources
from kmcompile.build.artifact import Artifact, BuiltModel
from kmcompile.build.image import SUMMARY_MAGIC
from kmcompile.errors import FullError, ToolError
from kmcompile.machine_code import elf
from kmcompile.run import serial
from kmcompile.run.runner import Asked, Counted, Instructions, RunResult, Words, checked
from kmcompile.target import Emulator
from kmcompile.tools import toolchain

_PLUGIN_TIMEOUT_S = 60.0
_BASE_TIMEOUT_S = 60.0
# Generous: a query reads each byte of the tables about twice, which takes 25 ns with an FPU and
# 300 ns in software floating point on a desktop machine.
_TIMEOUT_S_PER_BYTE = 1e-6
_FEW_INSTRUCTIONS = 20  # of one multiply-add; software floats take more
_SUMMARY_WORDS = 5
_FAULT_CODE = 99
_WORD_TYPES = {"little": "<u4", "big": ">u4"}
_UNWRITTEN = {2: "could not open its files", 4: "could not write its answers"}
_EXIT_CODES = {
    3: "holds another harness than the recipe says",
    5: "could not read its queries",
    _FAULT_CODE: "took a fault (bad address, undefined instruction or stack overflow)",
}


class QemuRunner:
    """Runs images of one emulated board, each in its own process and folder."""

    def __init__(self, timeout_s: float | None = None) -> None:
        """Take a time limit in seconds; by default the limit grows with queries and tables."""
        self._timeout_s = timeout_s

    def run(
        self,
        artifact: Artifact,
        inputs: Words,
        count_instructions: bool = False,
        counted: Counted = "classify",
    ) -> RunResult:
        """Answer all queries; count the instructions of each if the host has a compiler."""
        (result,) = self.run_together(artifact, [Asked(inputs, counted)], count_instructions)
        return result

    def run_together(
        self, artifact: Artifact, asked: Sequence[Asked], count_instructions: bool = False
    ) -> tuple[RunResult, ...]:
        """Answer the queries of all models in one run, and count instructions as `run` does."""
        asked = checked(artifact, asked)
        word = np.dtype(_WORD_TYPES[artifact.toolchain.byte_order])
        queries = b"".join(
            np.append(np.uint32(len(one.inputs)), one.inputs).astype(word).tobytes()
            for one in asked
        )
        n_words = [
            len(one.inputs) * model.recipe.record_words + _SUMMARY_WORDS
            for one, model in zip(asked, artifact.models, strict=True)
        ]
        instructions: Sequence[Instructions | None] = [None] * len(asked)
        with tempfile.TemporaryDirectory(prefix="kmcompile-run-") as holder:
            folder = Path(holder)
            (folder / "image.elf").symlink_to(artifact.path)
            plugin: list[str] = []
            reason: str | None = "not asked"
            if count_instructions:
                plugin, reason = _plugin(artifact, folder, [one.counted for one in asked])
            n_queries = sum(len(one.inputs) for one in asked)
            answers = self._emulate(artifact, folder, plugin, queries, n_queries, 4 * sum(n_words))
            if plugin:
                instructions = _counts(folder / "counts.txt", asked)
        words = np.frombuffer(answers[: len(answers) // 4 * 4], dtype=word).astype(np.uint32)
        own = np.split(words, np.cumsum(n_words)[:-1])
        return tuple(
            _result(artifact.toolchain.name, model, len(one.inputs), part, counts, reason)
            for model, one, part, counts in zip(
                artifact.models, asked, own, instructions, strict=True
            )
        )

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
            answers = _written(folder / "answers.bin", board.name) if code == 0 else b""
        else:
            code, output, answers = serial.exchange(
                command, folder, timeout_s, step, over_port, n_bytes, board.byte_order
            )
        if code in _UNWRITTEN:
            raise FullError(f"{step}: the emulated program {_UNWRITTEN[code]}")
        if code in _EXIT_CODES:
            raise ToolError(f"{step}: the emulated program {_EXIT_CODES[code]}")
        if code != 0:
            raise ToolError(toolchain.failure_text(program, step, code, output))
        return answers


def _result(
    board: str,
    model: BuiltModel,
    n_queries: int,
    words: Words,
    instructions: Instructions | None,
    reason: str | None,
) -> RunResult:
    """Return the answers of one model from its records and its summary."""
    records, summary = words[:-_SUMMARY_WORDS], words[-_SUMMARY_WORDS:]
    if summary.size != _SUMMARY_WORDS or summary[0] != SUMMARY_MAGIC:
        raise ToolError(f"{board}: the emulated program wrote no summary")
    if summary[1] != n_queries or records.size != n_queries * model.recipe.record_words:
        raise ToolError(f"{board}: {summary[1]} of {n_queries} queries were answered")
    painted = max(
        int(summary[2]) - model.query_frame_bytes,
        int(summary[3]) - model.self_test_frame_bytes,
    )
    return RunResult(
        records=records.reshape(n_queries, model.recipe.record_words),
        instructions=instructions,
        no_instructions_reason=reason,
        painted_stack_bytes=painted,
        self_test=int(summary[4]),
    )


def _written(path: Path, who: str) -> bytes:
    """Return the file that the emulator wrote; the emulator may end well without writing it."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise ToolError(f"{who}: the emulator ended and wrote no {path.name}") from error


def _emulator(artifact: Artifact) -> Emulator:
    if artifact.toolchain.emulator is None:
        raise ToolError(f"{artifact.toolchain.name}: has no emulator; it runs on the host")
    return artifact.toolchain.emulator


def _timeout_s(artifact: Artifact, n_queries: int) -> float:
    flash_bytes = artifact.flash_bytes or artifact.path.stat().st_size
    of_one_model = flash_bytes / len(artifact.models)
    slowness = max(1.0, artifact.toolchain.cost.float32.product / _FEW_INSTRUCTIONS)
    return _BASE_TIMEOUT_S + n_queries * of_one_model * _TIMEOUT_S_PER_BYTE * slowness


def _plugin(
    artifact: Artifact, folder: Path, counted: Sequence[Counted]
) -> tuple[list[str], str | None]:
    """Build the counting plugin; return QEMU's arguments for it, or none and the reason."""
    compiler = toolchain.host_compiler()
    if compiler is None:
        return [], "no C compiler on the host to build the counter: install gcc and libc6-dev"
    source = resources.templates_dir() / "plugin" / "count_calls.c"
    arguments = [compiler, "-O2", "-shared", "-fPIC", str(source), "-o", "count_calls.so"]
    try:
        toolchain.run_tool(arguments, folder, _PLUGIN_TIMEOUT_S, "building the counter")
    except ToolError as error:
        return [], str(error).splitlines()[0]
    names = [f"{m.recipe.name}_{c}" for m, c in zip(artifact.models, counted, strict=True)]
    entries = [f"entry={elf.function_address(artifact.path, name):#x}" for name in names]
    traps = elf.section_span(artifact.path, ".start")
    apart = [f"traps={traps.start:#x}", f"traps_end={traps.stop:#x}"]
    return ["-plugin", ",".join(["./count_calls.so", *entries, *apart, "out=counts.txt"])], None


def _counts(path: Path, asked: Sequence[Asked]) -> list[Instructions]:
    """Return the counts of each model's queries, without later counts of its self-test.

    The self-test calls no `step`, of which there are several in a query.
    """
    text = _written(path, "the counter")
    if not text.endswith(b"\n"):
        raise FullError("the counter could not write all its counts")
    numbers = np.array(text.split(), dtype=np.int64)
    entries, counts = numbers.reshape(-1, 2).T
    own = [counts[entries == number] for number in range(len(asked))]
    for found, one in zip(own, asked, strict=True):
        if len(found) < len(one.inputs):
            raise ToolError(f"the counter saw {len(found)} calls of {len(one.inputs)} queries")
    return [
        found if one.counted == "step" else found[: len(one.inputs)]
        for found, one in zip(own, asked, strict=True)
    ]
