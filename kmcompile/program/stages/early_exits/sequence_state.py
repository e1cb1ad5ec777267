"""The state of a batch in a bound sequence between two blocks."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.scalar.root_bound import root_bound as bound_of_root
from kmcompile.program.stages.input.range_gate import sum_of_squares

LARGEST = np.float32(2.0**60)
"""Largest K(x, x) and largest error of a kernel value; beyond them the bounds could overflow and
would prove nothing."""


@dataclass(frozen=True, slots=True, eq=False)
class SequenceState:
    """The state of a batch between two blocks of the sequence.

    Parameters
    ----------
    reach, root, error : ndarray of shape (n_queries,), float32
        S, R and E.
    value : ndarray of shape (n_queries, n_known), float32
    square : ndarray of shape (n_queries,), float32
        Q.
    estimate : ndarray of shape (n_queries, n_decisions), float32
    x_square : ndarray of shape (n_queries,), float32
        |x|^2; 0 where no distance is expanded.
    n_skipped : ndarray of shape (n_queries,), int64
        Features that the inner products skip.
    """

    reach: Float32Array
    root: Float32Array
    error: Float32Array
    value: Float32Array
    square: Float32Array
    estimate: Float32Array
    x_square: Float32Array
    n_skipped: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        batch: Batch,
        reach: Float32Array,
        error: Float32Array,
        n_decisions: int,
        expands: bool,
        skip_zeros: bool,
    ) -> SequenceState:
        """Return the state before the first block."""
        n = len(batch)
        zeros = np.zeros(n, dtype=np.float32)
        skips = np.count_nonzero(batch.x == 0, axis=1) if skip_zeros else zeros
        return cls(
            reach,
            bound_of_root(np.minimum(reach, LARGEST)),  # above LARGEST, no proof
            error,
            np.zeros((n, 0), dtype=np.float32),
            zeros,
            np.zeros((n, n_decisions), dtype=np.float32),
            sum_of_squares(batch.x) if expands else zeros,
            skips.astype(np.int64),
        )

    def chosen(self, rows: NDArray[np.bool_]) -> SequenceState:
        """Return the state of the chosen queries only."""
        return SequenceState(*(getattr(self, field.name)[rows] for field in fields(self)))
