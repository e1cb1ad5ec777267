"""Batch: the interpreter's state of a batch of queries between two stages."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, RealArray

UNKNOWN = np.float32(2.0**126)
"""The bound of a decision of which nothing is known: the range analysis keeps |f| within 2^120."""


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """The interpreter's state of a batch of queries between two stages, one row a query.

    Inside the replay, x, deviation, length, decision and bound are float64.

    Parameters
    ----------
    raw : ndarray of shape (n_queries, n_features), float32
        The input as the entry received it.
    x : ndarray of shape (n_queries, n), float32
        The input after the steps of preprocessing that have run.
    deviation : ndarray of shape (n_queries,), float32
        Upper bound on the Euclidean distance of `x` from the exactly prepared input.
    length : ndarray of shape (n_queries,), float32
        Upper bound on the Euclidean norm of `x`.
    square : ndarray of shape (n_queries,), float32
        |x|^2, if an early exit needs it, otherwise 0.
    decision, bound : ndarray of shape (n_queries, n_decisions), float32
        Decision values, and bounds on the errors of these values.
    earlier : ndarray of shape (n_queries, n_decisions), float32
        The decisions as the last reduced set estimated them; 0 before the first reduced set.
    spread : ndarray of shape (n_queries,), float32
        How large the last reduced set expects the error of estimates to be for this query,
        relative to other queries.
    least, most : ndarray of shape (n_queries, n_decisions), float32
        Lower and upper bounds on the decisions, proved by certified exits.
    label : ndarray of shape (n_queries,), int32
        Index of the class; -1 in a regression.
    value : ndarray of shape (n_queries,), float32
        The predicted value of a regression.
    lower, upper : ndarray of shape (n_queries,), float32
        The interval of the decision value, or of the predicted value of a regression.
    settled : ndarray of shape (n_queries,), bool
        Every decision within the bounds that stand here gives this label. In a regression: the
        interval is no wider than the tolerance. Bounds of an early exit with a risk are no proof:
        what a query is certified by is said where its answer is made.
    in_range : ndarray of shape (n_queries,), bool
        No stage so far has found the input outside the range of the calibration samples.
    kernel_evals : ndarray of shape (n_queries,), uint32
        Full kernel evaluations spent.
    known : ndarray of shape (n_queries,), uint32
        Those of `kernel_evals` that an early exit has computed for vectors of the exact sum.
    spared : ndarray of shape (n_queries,), uint32
        Those of `known` whose sums over the features the exact sum does not compute again.
    allowed : ndarray of shape (n_queries,), uint32
        Full kernel evaluations that may be spent: unlimited unless `classify_within` limits them.
    operations : ndarray of shape (n_queries,), int64
        Multiply-adds spent, all overhead included.
    coded : ndarray of shape (n_queries,), bool
        The input came as codes of an integer format; then `raw` holds these codes.
    walked : ndarray of shape (n_queries,), bool
        An early exit has walked to the leaf of a routed machine; the sum takes the walk over.
    received : ndarray of shape (n_queries,), float32
        `deviation` without the reach of an input tolerance: that of the received input alone.
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
    settled: NDArray[np.bool_]
    in_range: NDArray[np.bool_]
    kernel_evals: NDArray[np.uint32]
    known: NDArray[np.uint32]
    spared: NDArray[np.uint32]
    allowed: NDArray[np.uint32]
    operations: NDArray[np.int64]
    coded: NDArray[np.bool_]
    walked: NDArray[np.bool_]
    received: RealArray

    def __len__(self) -> int:
        return len(self.x)

    def chosen(self, rows: NDArray[np.bool_] | NDArray[np.intp] | slice) -> Batch:
        """Return the batch of the chosen queries only."""
        return Batch(*(getattr(self, field.name)[rows] for field in fields(self)))

    @classmethod
    def of(cls, X: Float32Array, n_decisions: int) -> Batch:
        """Return the state before the first stage of queries X, shape (n_queries, n_features)."""
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
            settled=label != 0,
            in_range=label == 0,
            kernel_evals=np.zeros(len(X), dtype=np.uint32),
            known=np.zeros(len(X), dtype=np.uint32),
            spared=np.zeros(len(X), dtype=np.uint32),
            allowed=np.full(len(X), 0xFFFFFFFF, dtype=np.uint32),
            operations=np.zeros(len(X), dtype=np.int64),
            coded=label != 0,
            walked=label != 0,
            received=zeros,
        )


def joined(*parts: Batch) -> Batch:
    """Return one batch of the queries of all parts, one part after the other."""
    return Batch(
        *(np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(Batch))
    )


def in_order(parts: Sequence[tuple[NDArray[np.intp], Batch]]) -> Batch:
    """Return one batch of parts that have left a loop, each with the places of its queries.

    Every place from 0 on is in one part.
    """
    order = np.argsort(np.concatenate([places for places, _ in parts]))
    return joined(*(part for _, part in parts)).chosen(order)


def put(batch: Batch, rows: NDArray[np.intp], new: Batch) -> Batch:
    """Return the batch with the chosen queries replaced by `new`."""
    order = np.arange(len(batch))
    order[rows] = len(batch) + np.arange(len(rows))
    return joined(batch, new).chosen(order)
