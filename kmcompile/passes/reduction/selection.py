"""Selections: support vectors in the order of their choice, with the best weights of every size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from kmcompile.model.coefficients import vector_classes, with_vectors
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.reduction.pools import Pool


@dataclass(frozen=True, slots=True, eq=False)
class Basis:
    """The chosen vectors of one pool, as an orthonormal basis e_1, ..., e_t of their span.

    Parameters
    ----------
    pool : Pool
    places : ndarray of shape (t,), int
        Places of the vectors in the order of choice, increasing.
    lower : ndarray of shape (t, t), float64
        The Cholesky factor L of their Gram matrix: phi(s_j) = sum_i L_ji e_i.
    weights : ndarray of shape (t, n_own), float64
        <e_i, W_p> of the pool's decisions.
    """

    pool: Pool
    places: NDArray[np.intp]
    lower: Float64Array
    weights: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Selection:
    """Support vectors in the order of their choice; the first n of them are a machine for every n.

    Parameters
    ----------
    machine : KernelMachine
        The machine before.
    order : ndarray of shape (n_chosen,), int
        Indices of its support vectors.
    bases : tuple of Basis
    squares : ndarray of shape (n_decisions,), float64
        |W_p|^2.
    """

    machine: KernelMachine
    order: NDArray[np.intp]
    bases: tuple[Basis, ...]
    squares: Float64Array

    def __len__(self) -> int:
        return len(self.order)

    def coefficients(self, n: int) -> Float64Array:
        """Return the best coefficients of the first n vectors (eq. 7), shape (n_decisions, n)."""
        spread = np.zeros((self.machine.n_decisions, n))
        for basis in self.bases:
            t = int(np.searchsorted(basis.places, n))
            beta = solve_triangular(basis.lower[:t, :t], basis.weights[:t], lower=True, trans=1)
            spread[np.ix_(basis.pool.decisions, basis.places[:t])] = beta.T
        return spread

    def reduced(self, n: int) -> KernelMachine:
        """Return the machine of the first n vectors."""
        chosen = self.order[:n]
        return with_vectors(
            self.machine,
            self.machine.support_vectors[chosen],
            self.coefficients(n),
            vector_classes(self.machine)[chosen],
        )
