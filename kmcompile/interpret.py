"""Runs a Program in Python by calling its stages in order: the reference semantics."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from kmcompile.ir.arrays import Float32Array
from kmcompile.ir.batch import Batch
from kmcompile.ir.program import Program
from kmcompile.stages import Prepare


class Status(IntEnum):
    """The C's status codes."""

    OK = 0
    ERROR_NULL = 1
    ERROR_NOT_FINITE = 2
    ERROR_RANGE = 3
    ERROR_CORRUPT = 4


RESULT_DTYPE = np.dtype(
    [
        ("status", np.int32),
        ("label", np.int32),
        ("lower", np.float32),
        ("upper", np.float32),
        ("kernel_evals", np.uint32),
        ("stage", np.uint16),
        ("certified", np.bool_),
        ("in_range", np.bool_),
    ]
)
"""One `_result_t` with the status of the call; all zero where the status is not OK."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """What a program says to a batch of queries.

    Parameters
    ----------
    results : structured ndarray of shape (n_queries,), RESULT_DTYPE
    decisions : ndarray of shape (n_queries, n_decisions), float32
        0 where the status is not OK.
    bounds : ndarray of shape (n_queries, n_decisions), float32
        The bounds on the errors of the decisions, which the C does not hand out.
    """

    results: NDArray[np.void]
    decisions: Float32Array
    bounds: Float32Array


def interpret(program: Program, X: Float32Array) -> Answers:
    """Return what the C answers, bit for bit.

    Parameters
    ----------
    program : Program
    X : ndarray of shape (n_queries, n_features), float32
        Anything, NaN included: what the C refuses is refused here.
    """
    prepare = program.stages[0]
    assert isinstance(prepare, Prepare)
    status = check(X, prepare.limit)
    finite = np.flatnonzero(status == Status.OK)
    batch = prepare.run(Batch.of(np.ascontiguousarray(X[finite]), program.n_decisions))
    beyond = prepare.beyond(batch)
    status[finite[beyond]] = Status.ERROR_RANGE
    accepted = status == Status.OK
    batch = batch.chosen(~beyond)
    for stage in program.stages[1:]:
        batch = stage.run(batch)

    results = np.zeros(len(X), dtype=RESULT_DTYPE)
    results["status"] = status
    decided = results[accepted]
    decided["label"], decided["certified"] = batch.label, batch.certified
    decided["lower"], decided["upper"] = batch.lower, batch.upper
    decided["kernel_evals"] = sum(stage.kernel_evaluations() for stage in program.stages)
    decided["in_range"] = True  # nothing was calibrated, so nothing lies outside
    results[accepted] = decided
    decisions = np.zeros((len(X), program.n_decisions), dtype=np.float32)
    bounds = np.zeros_like(decisions)
    decisions[accepted], bounds[accepted] = batch.decision, batch.bound
    return Answers(results, decisions, bounds)


def check(X: Float32Array, limit: np.float32) -> NDArray[np.int32]:
    """Return the status of every row: OK, ERROR_NOT_FINITE or ERROR_RANGE."""
    largest = (np.ascontiguousarray(X).view(np.uint32) & np.uint32(0x7FFFFFFF)).max(axis=1)
    status = np.full(len(X), Status.OK, dtype=np.int32)
    status[largest > limit.view(np.uint32)] = Status.ERROR_RANGE
    status[largest >= 0x7F800000] = Status.ERROR_NOT_FINITE
    return status
