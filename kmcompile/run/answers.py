"""What the program of an image sends back, and what is counted beside it, on any machine."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from kmcompile.build.artifact import Artifact, BuiltModel
from kmcompile.build.image import SUMMARY_MAGIC
from kmcompile.errors import FullError, ToolError
from kmcompile.machine_code import elf
from kmcompile.run.runner import Asked, Counts, RunResult, Words

_SUMMARY_WORDS = 5
_FAULT_CODE = 99
_WORD_TYPES = {"little": "<u4", "big": ">u4"}
_UNWRITTEN = {2: "could not open its files", 4: "could not write its answers"}
_EXIT_CODES = {
    3: "holds another harness than the recipe says",
    5: "could not read its queries",
    _FAULT_CODE: "took a fault (bad address, undefined instruction or stack overflow)",
}


def queries_of(artifact: Artifact, asked: Sequence[Asked]) -> bytes:
    """Return the bytes of all queries as the program reads them."""
    word = np.dtype(_WORD_TYPES[artifact.toolchain.byte_order])
    return b"".join(
        np.append(np.uint32(len(one.inputs)), one.inputs).astype(word).tobytes() for one in asked
    )


def words_of_answers(artifact: Artifact, asked: Sequence[Asked]) -> list[int]:
    """Return the number of words that the program sends for each model."""
    return [
        len(one.inputs) * model.recipe.record_words + _SUMMARY_WORDS
        for one, model in zip(asked, artifact.models, strict=True)
    ]


def results_of(
    artifact: Artifact, asked: Sequence[Asked], answers: bytes, counted: Sequence[Counts]
) -> tuple[RunResult, ...]:
    """Return the result of each model from the bytes of all answers.

    Raises
    ------
    ToolError
        If the answers are not whole.
    """
    word = np.dtype(_WORD_TYPES[artifact.toolchain.byte_order])
    words = np.frombuffer(answers[: len(answers) // 4 * 4], dtype=word).astype(np.uint32)
    own = np.split(words, np.cumsum(words_of_answers(artifact, asked))[:-1])
    return tuple(
        _result(artifact.toolchain.name, model, len(one.inputs), part, counts)
        for model, one, part, counts in zip(artifact.models, asked, own, counted, strict=True)
    )


def _result(
    board: str, model: BuiltModel, n_queries: int, words: Words, counts: Counts
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
        counts.instructions,
        counts.no_instructions_reason,
        counts.cycles,
        counts.no_cycles_reason,
        records=records.reshape(n_queries, model.recipe.record_words),
        painted_stack_bytes=painted,
        self_test=int(summary[4]),
    )


def check_code(code: int, step: str) -> None:
    """Check that the program did not end with an error of its own.

    Raises
    ------
    FullError, ToolError
        If it did; the text says what it could not do.
    """
    if code in _UNWRITTEN:
        raise FullError(f"{step}: the emulated program {_UNWRITTEN[code]}")
    if code in _EXIT_CODES:
        raise ToolError(f"{step}: the emulated program {_EXIT_CODES[code]}")


def counted_entries(artifact: Artifact, asked: Sequence[Asked]) -> list[str]:
    """Return the arguments that tell a counter the functions whose calls it counts."""
    pairs = zip(artifact.models, asked, strict=True)
    names = [f"{model.recipe.name}_{one.counted}" for model, one in pairs]
    return [f"entry={elf.function_address(artifact.path, name):#x}" for name in names]


def read_counts(path: Path, asked: Sequence[Asked]) -> list[np.ndarray]:
    """Return the rows that a counter wrote of each model's queries, without later ones.

    The self-test counts later, but it calls no `step`, of which there are several in a query.

    Raises
    ------
    FullError
        If the file breaks off.
    ToolError
        If calls are missing.
    """
    text = written(path, "the counter")
    if not text.endswith(b"\n"):
        raise FullError("the counter could not write all its counts")
    rows = np.array([line.split() for line in text.splitlines()], dtype=np.int64)
    own = [rows[rows[:, 0] == number, 1:] for number in range(len(asked))]
    for found, one in zip(own, asked, strict=True):
        if len(found) < len(one.inputs):
            raise ToolError(f"the counter saw {len(found)} calls of {len(one.inputs)} queries")
    return [
        found if one.counted == "step" else found[: len(one.inputs)]
        for found, one in zip(own, asked, strict=True)
    ]


def written(path: Path, who: str) -> bytes:
    """Return the file that the emulator wrote; the emulator may end well without writing it."""
    try:
        return path.read_bytes()
    except FileNotFoundError as error:
        raise ToolError(f"{who}: the emulator ended and wrote no {path.name}") from error
