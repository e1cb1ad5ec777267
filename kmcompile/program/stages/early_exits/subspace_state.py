"""The state of a batch in a subspace certificate between two tests."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, magnitude


@dataclass(frozen=True, slots=True, eq=False)
class SubspaceState:
    """The state of a batch between two tests; every field has shape (n_queries,), float32.

    Parameters
    ----------
    running, error, moved
        The running decision, the sum of |beta| times the kernels' errors, and the sum of magnitudes
        that bounds the rounding of the running decision.
    share
        T of `SubspaceCertificate`.
    open, whole
        W of `SubspaceCertificate` now, and before any slot was touched.
    fixed
        The constant part of the radius.
    """

    running: Float32Array
    share: Float32Array
    open: Float32Array
    whole: Float32Array
    fixed: Float32Array
    error: Float32Array
    moved: Float32Array

    def touched(
        self,
        coef: Float32Array,
        difference: Float32Array,
        weight: Float32Array,
        error: Float32Array,
    ) -> SubspaceState:
        """Return the state after one slot was touched, another one in each query.

        Parameters
        ----------
        coef, difference, weight, error : ndarray of shape (n_queries,), float32
            beta_i, K^_i - K~_i, w_i and the bound on the error of K^_i.
        """
        term = coef * difference
        running = self.running + term
        return replace(
            self,
            running=running,
            open=self.open - weight,
            error=self.error + magnitude(coef) * error,
            moved=self.moved + (magnitude(term) + magnitude(running)),
        )

    def chosen(self, rows: NDArray[np.bool_] | NDArray[np.intp]) -> SubspaceState:
        """Return the state of the chosen queries only."""
        return SubspaceState(*(getattr(self, field.name)[rows] for field in fields(self)))
