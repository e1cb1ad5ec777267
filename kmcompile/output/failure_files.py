"""The queries of a failed verification, saved beside the output folder that does not appear."""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from kmcompile.program.program import Program
from kmcompile.report.failure_report import MARK, Made, failure_files
from kmcompile.text.figures import counted
from kmcompile.verify.failed_check import FailedCheckError
from kmcompile.verify.failure import Failure
from kmcompile.verify.finding import Broken

_MOST_BYTES = 100_000_000
"""Largest size of a file that may be a saved failure; a larger file is somebody else's."""


@contextlib.contextmanager
def saving_failures(beside: Path | None, made: Made) -> Iterator[None]:
    """Save the queries of a check that fails inside, and add advice to its error.

    Parameters
    ----------
    beside : Path or None
        The output folder. The files `<folder>-failed.json` and `<folder>-failed.npz` are written
        beside it. With None nothing is written; the error holds the bytes of the files.
    made : Made
        The compilation that is checked.

    Raises
    ------
    FailedCheckError
        The error of the failed check, with a line of advice, and with `files` and `saved`.
    """
    try:
        yield
    except FailedCheckError as error:
        if error.failure is None:
            raise
        lines = str(error).splitlines()
        name = made.program.name if beside is None else beside.name
        folder = None if beside is None else beside.parent
        stem = _free_stem(folder, f"{name}-failed")
        error.files = failure_files(error.failure, made, lines, stem)
        reason = "error.files has it"
        if folder is not None:
            try:
                error.saved = _save(folder, stem, error.files)
            except OSError as refused:
                reason = f"{folder / stem}.json: {refused.strerror}"
        advice = _advice(error.failure, made.program, error.saved, reason)
        error.args = ("\n".join((*lines[:2], advice)),)
        raise


def _advice(failure: Failure, program: Program, saved: tuple[Path, ...], reason: str) -> str:
    """Return the line of advice: an option that avoids the failure, and the files to report."""
    around = _way_around(failure, program)
    places = " and ".join(path.name if number else str(path) for number, path in enumerate(saved))
    if failure.finding.broken is Broken.RISK:
        samples = counted(len(failure), "such sample", "such samples")
        kept = f"{places} hold {samples}" if saved else f"{samples} not saved: {reason}"
        return f"{around}; {kept}"
    if not saved:
        return f"{around}; please report it; the failing inputs are not saved: {reason}"
    inputs = counted(len(failure), "failing input", "failing inputs")
    holds = f", which hold {inputs}" if len(failure) else ""
    return f"{around}; please report it with {places}{holds}"


def _way_around(failure: Failure, program: Program) -> str:
    options = failure.avoided_by
    if failure.finding.broken is Broken.RISK:
        return f"or use {options[0]}, which promises only what it proves"
    if not options:
        return "no option leaves this out"
    ends = (program.replay, program.ends.exact if program.ends.exact.sums_pairs else None)
    optional = {stage.name for stage in (*program.early_exits, *ends) if stage is not None}
    left_out = " and ".join(name for name in failure.stages if name in optional)
    does = {
        "--verify host": "leaves this figure out",
        "--format float32": "sums in float",
        "--mode exact": f"leaves {left_out or 'early exits'} out",
    }
    last = options[-1] if options[-1] in does else ""
    return f"to go on: {' '.join(options)}, which {does.get(last, f'leaves {left_out} out')}"


def _free_stem(folder: Path | None, stem: str) -> str:
    """Return the first of the names `stem`, `stem-2`, ... that is no file of somebody else."""
    tried = (stem if number == 1 else f"{stem}-{number}" for number in itertools.count(1))
    return next(one for one in tried if folder is None or _is_free(folder, one))


def _is_free(folder: Path, stem: str) -> bool:
    """Return whether both names are free, or hold a pair of files that an earlier run saved."""
    text, queries = folder / f"{stem}.json", folder / f"{stem}.npz"
    if not os.path.lexists(text):
        return not os.path.lexists(queries)
    if not all(_is_small_file(path) for path in (text, queries) if os.path.lexists(path)):
        return False
    try:
        content: Any = json.loads(text.read_bytes())
        if not isinstance(content, Mapping) or MARK not in content:
            return False
        if not os.path.lexists(queries):
            return True
        named = content["queries_file"]["sha256"]
        return bool(hashlib.sha256(queries.read_bytes()).hexdigest() == named)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return False


def _is_small_file(path: Path) -> bool:
    found = path.lstat()
    return stat.S_ISREG(found.st_mode) and found.st_size <= _MOST_BYTES


def _save(folder: Path, stem: str, files: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write all of the files or none, and return their paths with the JSON text first."""
    made = {folder / f".{name}.kmcompile-new": folder / name for name in files}
    try:
        for fresh, content in zip(made, files.values(), strict=True):
            fresh.unlink(missing_ok=True)
            descriptor = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o666)
            with open(descriptor, "wb") as file:
                file.write(content)
        for fresh, path in made.items():
            fresh.replace(path)
        if f"{stem}.npz" not in files:  # of an earlier failure
            (folder / f"{stem}.npz").unlink(missing_ok=True)
    finally:
        for fresh in made:
            with contextlib.suppress(OSError):
                fresh.unlink(missing_ok=True)
    return tuple(sorted(made.values(), key=lambda path: path.suffix))
