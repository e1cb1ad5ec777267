"""The records of the harness: conversion of answers to 32-bit words and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.emit.view import RECORD_HEADER_WORDS
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import RESULT_DTYPE, Answers, Status
from kmcompile.program.stages.labels.value import NO_LABEL

STATUS_OF_DECISION = 7
"""The word of the status of `decision`; the words before it are those of the answer."""

ALL_AGREE = 3
"""The word of the harness where two jobs in turn agree, and a job that has ended is idle."""


def records_of(answers: Answers) -> NDArray[np.uint32]:
    """Return the records that the harness must give for the interpreter's answers.

    Returns
    -------
    ndarray of shape (n_queries, answer_words), uint32
    """
    results = answers.results
    n_decisions = answers.decisions.shape[1]
    records = np.zeros((len(results), RECORD_HEADER_WORDS + n_decisions), dtype=np.uint32)
    records[:, 0] = records[:, 7] = results["status"].view(np.uint32)
    is_value = results["label"] == NO_LABEL
    values = np.ascontiguousarray(results["value"]).view(np.uint32)
    records[:, 1] = np.where(is_value, values, results["label"].view(np.uint32))
    records[:, 2] = np.ascontiguousarray(results["lower"]).view(np.uint32)
    records[:, 3] = np.ascontiguousarray(results["upper"]).view(np.uint32)
    records[:, 4] = results["kernel_evals"]
    records[:, 5] = results["stage"]
    records[:, 6] = (results["certified"] & ~is_value) + 2 * results["in_range"].astype(np.uint32)
    records[:, RECORD_HEADER_WORDS:] = np.ascontiguousarray(answers.decisions).view(np.uint32)
    parts = [records]
    if answers.probabilities is not None and answers.probability_bounds is not None:
        told = np.column_stack([answers.probabilities, answers.probability_bounds])
        parts += [records[:, :1], told.view(np.uint32)]
    if answers.telemetry is not None:
        parts.append(answers.telemetry)
    if answers.steps is not None:
        agreed = np.full(len(records), ALL_AGREE, dtype=np.uint32)
        parts += [records[:, :STATUS_OF_DECISION], answers.steps[:, None], agreed[:, None]]
    return parts[0] if len(parts) == 1 else np.column_stack(parts)


def answers_of(
    records: NDArray[np.uint32], is_regression: bool = False
) -> tuple[NDArray[np.void], Float32Array]:
    """Return the results and the decision values in the records of the C."""
    results = np.zeros(len(records), dtype=RESULT_DTYPE)
    results["status"] = records[:, 0].view(np.int32)
    if is_regression:
        answered = results["status"] == Status.OK
        results["label"] = np.where(answered, NO_LABEL, 0)
        results["value"] = np.ascontiguousarray(records[:, 1]).view(np.float32)
    else:
        results["label"] = records[:, 1].view(np.int32)
    results["lower"] = np.ascontiguousarray(records[:, 2]).view(np.float32)
    results["upper"] = np.ascontiguousarray(records[:, 3]).view(np.float32)
    results["kernel_evals"] = records[:, 4]
    results["stage"] = records[:, 5]
    results["certified"] = (records[:, 6] & 1) != 0
    results["in_range"] = (records[:, 6] & 2) != 0
    decisions = np.ascontiguousarray(records[:, RECORD_HEADER_WORDS:]).view(np.float32)
    return results, decisions
