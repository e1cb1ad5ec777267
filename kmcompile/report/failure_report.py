"""The saved files of a failed verification: a text for people, and the queries for programs.

Unlike report.json the text names the versions of the tools, so that others can repeat the failure.
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.reference import Reference
from kmcompile.program.interpreter import Status
from kmcompile.program.program import Program
from kmcompile.target import Target, load_target
from kmcompile.tools.toolchain import diagnose
from kmcompile.verify.failure import Failure
from kmcompile.verify.records import answers_of
from kmcompile.version import VERSION

MARK = "kmcompile_failure"
"""The field that identifies such a file; its value is the version of the layout."""

_LAYOUT = 1


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """The compilation whose verification failed.

    Parameters
    ----------
    program : Program
    target : Target
    command : str
        Line 1 of the C.
    options : mapping of str to value
        The options as in report.json, with file names without paths.
    description : str or None
        The model in one line; None without the model.
    files : mapping of file name to SHA-256
        The emitted files.
    """

    program: Program
    target: Target
    command: str
    options: Mapping[str, Any]
    description: str | None
    files: Mapping[str, str]


def failure_files(
    failure: Failure, made: Made, message: Sequence[str], stem: str
) -> dict[str, bytes]:
    """Return the files to save by their names: `<stem>.json` and, with queries, `<stem>.npz`.

    Parameters
    ----------
    failure : Failure
    made : Made
    message : sequence of str
        The lines of the error.
    stem : str
    """
    queries = _queries_bytes(failure) if len(failure) else None
    content: dict[str, Any] = {
        MARK: _LAYOUT,
        "tool": {"name": "kmcompile", "version": VERSION},
        "failed": {
            "what": str(failure.finding.broken),
            "where": failure.finding.machine,
            "message": list(message),
            "queries_asked": failure.n_asked,
            "queries_failing": len(failure.finding.rows),
            "queries_kept": len(failure),
            "deciding_stages": dict(failure.stages),
            "avoided_by": list(failure.avoided_by),
        },
        "command": made.command,
        "options": dict(made.options),
        "model": {
            "sha256": made.program.model_sha256,
            "description": made.description,
            "n_features": made.program.n_features,
            "classes": list(made.program.classes),
        },
        "program": {
            "mode": made.program.mode,
            "format": made.program.number_format,
            "stages": [stage.name for stage in made.program.stages],
            "replay": made.program.replay is not None,
        },
        "target": made.target.name,
        "tools": _tools(made.target),
        "files": dict(made.files),
        "queries_file": None
        if queries is None
        else {"name": f"{stem}.npz", "sha256": hashlib.sha256(queries).hexdigest()},
        "queries": [_query(failure, made.program, number) for number in range(len(failure))],
    }
    # ASCII: a label may hold characters that reorder text.
    files = {f"{stem}.json": (json.dumps(content, indent=1, allow_nan=False) + "\n").encode()}
    return files if queries is None else {f"{stem}.npz": queries, **files}


def _tools(target: Target) -> dict[str, str | None]:
    """Return the versions of all tools and libraries that take part; None if missing."""
    targets = {each.name: each for each in (load_target("host"), target)}
    found = {
        tool.command: tool.version for each in diagnose(targets.values()) for tool in each.tools
    }
    python = {"python": platform.python_version(), "numpy": np.__version__}
    return {**python, "machine": platform.machine(), **found}


def _queries_bytes(failure: Failure) -> bytes:
    """Return the kept queries as .npz, whose X can be given with --test-data.

    Bits are kept: X and the interpreter's answers in float32, the model's in float64, the
    words of the C as they came.
    """
    arrays: dict[str, NDArray[Any]] = {"X": failure.X, "query": failure.rows.astype(np.int64)}
    if failure.codes is not None:
        arrays["codes"] = failure.codes
    arrays["interpreter_words"] = failure.expected
    if failure.records is not None:
        arrays["c_words"] = failure.records
    for suffix, model in (("", failure.model), ("_of_codes", failure.model_of_codes)):
        if model is not None:
            arrays[f"model_decisions{suffix}"] = model.decisions
            arrays[f"model_error{suffix}"] = model.error
            arrays[f"model_label{suffix}"] = model.labels
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    return buffer.getvalue()


def _query(failure: Failure, program: Program, number: int) -> dict[str, Any]:
    """Return one query with the answers to it."""
    n_words = failure.expected.shape[1]
    found: dict[str, Any] = {
        "query": int(failure.rows[number]),
        "from": failure.origins[number],
        "input": _hex(failure.X[number]),
    }
    halves = [("", failure.answers, failure.model, 0)]
    if failure.of_codes is not None and failure.codes is not None:
        found["codes"] = failure.codes[number].tolist()
        halves.append(("_of_codes", failure.of_codes, failure.model_of_codes, n_words // 2))
    for suffix, answers, model, start in halves:
        found[f"interpreter{suffix}"] = _answer(program, answers.results, answers.decisions, number)
        words = None
        if failure.records is not None:
            end = start + n_words // len(halves)
            words = np.ascontiguousarray(failure.records[number : number + 1, start:end])
        found[f"c{suffix}"] = None if words is None else _answer_of_words(program, words)
        found[f"model{suffix}"] = None if model is None else _reference(program, model, number)
    return found


def _answer_of_words(program: Program, words: NDArray[np.uint32]) -> dict[str, Any]:
    """Return the C's answer to one query, with its words."""
    results, decisions = answers_of(words, program.is_regression)
    found = _answer(program, results, decisions[:, : program.n_decisions], 0)
    return {**found, "words": [f"0x{word:08x}" for word in words[0].tolist()]}


def _answer(
    program: Program, results: NDArray[np.void], decisions: NDArray[np.float32], row: int
) -> dict[str, Any]:
    """Return an answer with numbers in hexadecimal and with names instead of indices."""
    result = results[row]
    status = int(result["status"])
    known = {member.value: member.name for member in Status}
    stages = [stage.name for stage in program.exit_stages]
    label = int(result["label"])
    answer: dict[str, Any] = {"status": known.get(status, status)}
    if program.is_regression:
        answer["value"] = float(result["value"]).hex()
    else:
        answer["label"] = label
        answer["class"] = program.classes[label] if 0 <= label < len(program.classes) else None
        answer["certified"] = bool(result["certified"])
    stage = int(result["stage"])
    return {
        **answer,
        "lower": float(result["lower"]).hex(),
        "upper": float(result["upper"]).hex(),
        "kernel_evals": int(result["kernel_evals"]),
        "stage": stages[stage] if stage < len(stages) else stage,
        "in_range": bool(result["in_range"]),
        "decisions": _hex(decisions[row]),
    }


def _reference(program: Program, model: Reference, row: int) -> dict[str, Any]:
    label = int(model.labels[row])
    return {
        "label": label if label >= 0 else None,
        "class": program.classes[label] if label >= 0 else None,
        "decisions": [float(value).hex() for value in model.decisions[row]],
        "error": [float(value).hex() for value in model.error[row]],
    }


def _hex(values: NDArray[Any]) -> list[str]:
    return [float(value).hex() for value in values]
