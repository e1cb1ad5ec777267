"""What a subspace certificate knows of some queries between two tests."""

from __future__ import annotations

from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array


@dataclass(frozen=True, slots=True, eq=False)
class SubspaceState:
    """What is known of some queries between two tests, each of shape (n_queries,), float32.

    Parameters
    ----------
    running, error, moved
        The decision, its kernels' errors, what the sum's rounding is relative to.
    share
        T.
    open, whole
        W now and before any slot was touched.
    fixed
        The part of the radius that stays.
    """

    running: Float32Array
    share: Float32Array
    open: Float32Array
    whole: Float32Array
    fixed: Float32Array
    error: Float32Array
    moved: Float32Array

    def chosen(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> SubspaceState:
        """Return that of some queries."""
        return SubspaceState(*(getattr(self, field.name)[rows] for field in fields(self)))
