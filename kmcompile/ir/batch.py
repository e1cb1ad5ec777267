"""Batch: what is known of some queries between two stages of the interpreter."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kmcompile.ir.arrays import Float32Array


@dataclass(frozen=True, slots=True, eq=False)
class Batch:
    """What is known of a batch of queries between two stages.

    Parameters
    ----------
    x : ndarray of shape (n_queries, n), float32
        The input as far as it is prepared.
    deviation : ndarray of shape (n_queries,), float32
        Upper bound on the Euclidean distance of `x` from the exactly prepared input.
    length : ndarray of shape (n_queries,), float32
        Upper bound on the Euclidean norm of `x`.
    decision, bound : ndarray of shape (n_queries, n_decisions), float32
        Decision values and the bounds on their errors.
    label : ndarray of shape (n_queries,), int32
    lower, upper : ndarray of shape (n_queries,), float32
    certified : ndarray of shape (n_queries,), bool
    """

    x: Float32Array
    deviation: Float32Array
    length: Float32Array
    decision: Float32Array
    bound: Float32Array
    label: NDArray[np.int32]
    lower: Float32Array
    upper: Float32Array
    certified: NDArray[np.bool_]

    def chosen(self, rows: NDArray[np.bool_]) -> Batch:
        """Return the batch with these queries only."""
        return Batch(*(getattr(self, field.name)[rows] for field in fields(self)))

    @classmethod
    def of(cls, X: Float32Array, n_decisions: int) -> Batch:
        """Return the state before the first stage."""
        zeros = np.zeros(len(X), dtype=np.float32)
        table = np.zeros((len(X), n_decisions), dtype=np.float32)
        label = np.zeros(len(X), dtype=np.int32)
        return cls(X, zeros, zeros, table, table, label, zeros, zeros, label != 0)
