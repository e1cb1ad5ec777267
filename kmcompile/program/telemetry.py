"""Telemetry: the counters of what a program does, and what the C's `telemetry_` functions count.

The struct is words of 32 bits without padding. Its members are named here and nowhere else: the
header, the packages, the XTCE file, the report and the verification take them from `counters`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.program.program import Program
from kmcompile.program.results import Status
from kmcompile.program.stages import RangeGate

Words = NDArray[np.uint32]

_FULL = 0xFFFFFFFF
WORD_BYTES = 4
NONE_YET = np.finfo(np.float32).max
"""The smallest margin after a reset: the largest float."""


@dataclass(frozen=True, slots=True)
class Counter:
    """A member of the struct.

    Attributes
    ----------
    name : str
        Of the member.
    meaning : str
        A phrase of at most 30 letters, for a comment in the header.
    elements : tuple of (str, str)
        The elements of an array: what a name of each ends with, and its meaning. Empty: one word.
    length : str
        The macro, without prefix, that has the number of elements; empty without elements.
    is_float : bool
        Whether it is a float instead of a uint32_t.
    """

    name: str
    meaning: str
    elements: tuple[tuple[str, str], ...] = ()
    length: str = ""
    is_float: bool = False

    @property
    def n_words(self) -> int:
        """The words of the member."""
        return len(self.elements) or 1

    @property
    def words(self) -> tuple[tuple[str, str], ...]:
        """The name and the meaning of each word."""
        if not self.elements:
            return ((self.name, self.meaning),)
        return tuple((f"{self.name}_{end}", meaning) for end, meaning in self.elements)


def counters(program: Program) -> tuple[Counter, ...]:
    """Return the members of a program's telemetry struct in their order."""
    of_task = _of_values() if program.is_regression else _of_labels(program)
    return (
        Counter("queries", "calls that were counted"),
        Counter("by_status", "calls by their status", _statuses(), "N_STATUSES"),
        Counter("by_stage", "answers by their stage", _stages(program), "N_STAGES"),
        *of_task,
        Counter("out_of_range", "answers not in range"),
        Counter("most_kernel_evals", "largest kernel_evals"),
        Counter("self_test_passes", "self-tests that passed"),
        Counter("self_test_failures", "self-tests that failed"),
        *_of_audit(program),
        *_of_copies(program),
    )


def words(program: Program) -> tuple[tuple[str, str, bool], ...]:
    """Return name and meaning of each word of the struct, and whether it is a float."""
    return tuple((*word, one.is_float) for one in counters(program) for word in one.words)


def n_words(program: Program) -> int:
    """Return the 32-bit words of a program's telemetry struct."""
    return sum(counter.n_words for counter in counters(program))


def tells_unlikeness(program: Program) -> bool:
    """Return whether the program's audit counts inputs that are unlike the samples apart."""
    return any(isinstance(stage, RangeGate) and len(stage.usual) for stage in program.exits)


def _statuses() -> tuple[tuple[str, str], ...]:
    return tuple((status.name.lower(), f"calls with status {status.name}") for status in Status)


def _stages(program: Program) -> tuple[tuple[str, str], ...]:
    return tuple(
        (stage.name, f"answers of stage {number}, {stage.name}")
        for number, stage in enumerate(program.exit_stages)
    )


def _of_labels(program: Program) -> tuple[Counter, ...]:
    labels = tuple(
        (str(number), f"answers with label {number}, class {label}")
        for number, label in enumerate(program.classes)
    )
    return (
        Counter("by_label", "answers by their label", labels, "N_CLASSES"),
        Counter("not_certified", "answers not certified"),
        Counter("smallest_margin", "least max(lower, -upper)", is_float=True),
    )


def _of_values() -> tuple[Counter, ...]:
    return (Counter("widest_interval", "largest upper - lower", is_float=True),)


def _of_audit(program: Program) -> tuple[Counter, ...]:
    if not program.takes_risk:
        return ()
    own = (
        Counter("audit_checked", "answers that were audited"),
        Counter("audit_differences", "of these, another label"),
    )
    if not tells_unlikeness(program):
        return own
    return (
        *own,
        Counter("audit_unlike_checked", "unlike ones, audited too"),
        Counter("audit_unlike_differences", "of these, another label"),
    )


def _of_copies(program: Program) -> tuple[Counter, ...]:
    if program.redundancy == 1:
        return ()
    return (
        Counter("damaged_blocks", "blocks found damaged"),
        Counter("repairs", "of these, repaired"),
    )


def places(program: Program) -> dict[str, int]:
    """Return the first word of each member."""
    found, place = {}, 0
    for counter in counters(program):
        found[counter.name] = place
        place += counter.n_words
    return found


def reset(program: Program) -> Words:
    """Return the words of the struct after the C's `telemetry_reset`.

    Returns
    -------
    ndarray of shape (n_words,), uint32
    """
    words = np.zeros(n_words(program), dtype=np.uint32)
    if not program.is_regression:
        words[places(program)["smallest_margin"]] = NONE_YET.view(np.uint32)
    return words


def counted(program: Program, before: Words, results: NDArray[np.void]) -> Words:
    """Return the words after one call of the C's `telemetry_count`, for each result apart.

    An answer whose stage or label the program does not have counts as a call of ERROR_CORRUPT.

    Parameters
    ----------
    program : Program
    before : ndarray of shape (n_results, n_words), uint32
        The words before the call; or of shape (n_words,), the same for every result.
    results : structured ndarray of shape (n_results,), RESULT_DTYPE
        What `classify` or `predict` returned. Only the status of a refused query is read.

    Returns
    -------
    ndarray of shape (n_results, n_words), uint32
    """
    at, rows = places(program), np.arange(len(results))
    found = np.broadcast_to(before, (len(results), n_words(program))).copy()
    answered = _answered(program, results)
    known = (results["status"] > Status.OK) & (results["status"] < len(Status))
    status = np.where(answered | known, results["status"], Status.ERROR_CORRUPT)
    _add_one(found, rows, at["queries"])
    _add_one(found, rows, at["by_status"] + status)
    rows, answers = rows[answered], results[answered]
    _add_one(found, rows, at["by_stage"] + answers["stage"].astype(np.intp))
    _add_one(found, rows[~answers["in_range"]], at["out_of_range"])
    most = at["most_kernel_evals"]
    found[rows, most] = np.maximum(found[rows, most], answers["kernel_evals"])
    if program.is_regression:
        with np.errstate(over="ignore", invalid="ignore"):  # as the C: infinite, or NaN
            width = answers["upper"] - answers["lower"]
        _keep(found, rows, at["widest_interval"], width, np.greater)
        return found
    _add_one(found, rows, at["by_label"] + answers["label"].astype(np.intp))
    _add_one(found, rows[~answers["certified"]], at["not_certified"])
    lower, above = answers["lower"], -answers["upper"]
    margin = np.where(above > lower, above, lower)
    _keep(found, rows, at["smallest_margin"], margin, np.less)
    return found


def transitions(program: Program, results: NDArray[np.void]) -> Words:
    """Return what the harness counts of each result alone.

    Returns
    -------
    ndarray of shape (n_results, 2 n_words), uint32
        The words after a reset and the result; then, with every integer word replaced by what it
        lacks of the largest, those after the result has been counted twice more.
    """
    once = counted(program, reset(program), results)
    full = once.copy()
    for counter in counters(program):
        if not counter.is_float:
            place = places(program)[counter.name]
            full[:, place : place + counter.n_words] ^= np.uint32(_FULL)
    twice = counted(program, counted(program, full, results), results)
    return np.hstack([once, twice])


def _answered(program: Program, results: NDArray[np.void]) -> NDArray[np.bool_]:
    """Return which results are answers that the program can give."""
    possible = results["stage"] < len(program.exit_stages)
    if not program.is_regression:
        possible &= (results["label"] >= 0) & (results["label"] < len(program.classes))
    answered: NDArray[np.bool_] = (results["status"] == Status.OK) & possible
    return answered


def _add_one(words: Words, rows: NDArray[np.intp], place: int | NDArray[np.intp]) -> None:
    """Count one in a word of each of the rows; a full one stays full."""
    words[rows, place] += words[rows, place] < _FULL


def _keep(
    words: Words, rows: NDArray[np.intp], place: int, number: NDArray[np.float32], beats: np.ufunc
) -> None:
    """Replace the float at a place by the row's number where that one beats it; NaN does not."""
    held = np.ascontiguousarray(words[rows, place]).view(np.float32)
    kept = np.where(beats(number, held), number, held).astype(np.float32)
    words[rows, place] = kept.view(np.uint32)
