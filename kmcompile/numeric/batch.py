"""Batch: what is known of some queries between two stages of the interpreter."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, RealArray

UNKNOWN = np.float32(2.0**126)
"""Bounds every decision: none of an accepted input exceeds 2^120, as the range analysis sees to."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What is known of a batch of queries between two stages.

    Inside the replay x, deviation, length, decision and bound are float64.

    Parameters
    ----------
    raw : ndarray of shape (n_queries, n_features), float32
        The input as the entry received it.
    x : ndarray of shape (n_queries, n), float32
        The input as far as it is prepared.
    deviation : ndarray of shape (n_queries,), float32
        Upper bound on the Euclidean distance of `x` from the exactly prepared input.
    length : ndarray of shape (n_queries,), float32
        Upper bound on the Euclidean norm of `x`.
    square : ndarray of shape (n_queries,), float32
        |x|^2, where an early exit needs it.
    decision, bound : ndarray of shape (n_queries, n_decisions), float32
        Decision values and the bounds on their errors.
    earlier : ndarray of shape (n_queries, n_decisions), float32
        The decisions as the last reduced set estimated them, 0 before the first.
    spread : ndarray of shape (n_queries,), float32
        How far off estimates are for this query, relative to others, as that reduced set says.
    least, most : ndarray of shape (n_queries, n_decisions), float32
        What certified exits have proved of the decisions.
    label : ndarray of shape (n_queries,), int32
        -1 of a regression.
    value : ndarray of shape (n_queries,), float32
        What a regression answers.
    lower, upper : ndarray of shape (n_queries,), float32
    certified : ndarray of shape (n_queries,), bool
        The label is the same for every decision within its bound; of a regression: the interval
        is within the tolerance.
    in_range : ndarray of shape (n_queries,), bool
        The input lies within what calibration saw, as far as it was looked at.
    kernel_evals : ndarray of shape (n_queries,), uint32
        Full kernel evaluations spent.
    known : ndarray of shape (n_queries,), uint32
        Those of them whose totals the exact sum finds and does not sum again.
    allowed : ndarray of shape (n_queries,), uint32
        Full kernel evaluations that may be spent: all but limited by `classify_within`.
    operations : ndarray of shape (n_queries,), int64
        Multiply-adds spent, all overhead included.
    coded : ndarray of shape (n_queries,), bool
        The input came as the codes of an integer format, which `raw` then holds.
    """

    raw: Float32Array
    x: RealArray
    deviation: RealArray
    length: RealArray
    square: Float32Array
    decision: RealArray
    bound: RealArray
    earlier: Float32Array
    spread: Float32Array
    least: Float32Array
    most: Float32Array
    label: NDArray[np.int32]
    value: Float32Array
    lower: Float32Array
    upper: Float32Array
    certified: NDArray[np.bool_]
    in_range: NDArray[np.bool_]
    kernel_evals: NDArray[np.uint32]
    known: NDArray[np.uint32]
    allowed: NDArray[np.uint32]
    operations: NDArray[np.int64]
    coded: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.x)

    def chosen(self, rows: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Batch:
        """Return the batch with these queries only."""
        return Batch(*(getattr(self, field.name)[rows] for field in fields(self)))

    @classmethod
    def of(cls, X: Float32Array, n_decisions: int) -> Batch:
        """Return the state before the first stage."""
        zeros = np.zeros(len(X), dtype=np.float32)
        table = np.zeros((len(X), n_decisions), dtype=np.float32)
        label = np.zeros(len(X), dtype=np.int32)
        return cls(
            X,
            X,
            zeros,
            zeros,
            zeros,
            table,
            table,
            table,
            np.ones_like(zeros),
            np.full_like(table, -UNKNOWN),
            np.full_like(table, UNKNOWN),
            label,
            zeros,
            zeros,
            zeros,
            certified=label != 0,
            in_range=label == 0,
            kernel_evals=np.zeros(len(X), dtype=np.uint32),
            known=np.zeros(len(X), dtype=np.uint32),
            allowed=np.full(len(X), 0xFFFFFFFF, dtype=np.uint32),
            operations=np.zeros(len(X), dtype=np.int64),
            coded=label != 0,
        )


def joined(first: Batch, second: Batch) -> Batch:
    """Return the queries of two batches, one after the other."""
    return Batch(
        *(
            np.concatenate([getattr(first, field.name), getattr(second, field.name)])
            for field in fields(Batch)
        )
    )
