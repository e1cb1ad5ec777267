"""Reduced set construction: vectors moved together with their coefficients (Burges 1996)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cho_factor, cho_solve
from scipy.optimize import minimize

from kmcompile.errors import InputError
from kmcompile.model.coefficients import vector_classes, with_vectors
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.reduction.growing import relative_weights
from kmcompile.passes.reduction.pools import Pool, joint_pools

_RIDGE = 1e-8
"""Share of the mean K(z, z) that is added to the Gram matrix of vectors that nearly coincide."""

_ROOM = 0.5
ITERATIONS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """The sum of relative |W_p - W^_p|^2 as a function of the vectors of the reduced machine.

    Parameters
    ----------
    normals : Normals
        Of the machine before.
    pools : tuple of Pool
        Of the reduced machine: which of its vectors take part in which decisions.
    relative : ndarray of shape (n_decisions,), float64
        1 / |W_p|^2.
    """

    normals: Normals
    pools: tuple[Pool, ...]
    relative: Float64Array

    @classmethod
    def of(cls, normals: Normals, start: KernelMachine) -> Problem:
        """Return the problem of machines with as many vectors of each class as `start`."""
        return cls(normals, joint_pools(start), relative_weights(normals))

    def coefficients(self, Z: Float64Array) -> tuple[Float64Array, Float64Array]:
        """Return the best coefficients, shape (n_decisions, n), and the products <W_p, phi(z)>."""
        kernel, n = self.normals.kernel, len(Z)
        gram, _ = kernel.fast_values(Z, Z)
        gram = (gram + gram.T) / 2
        gram[np.diag_indices(n)] += _RIDGE * gram.trace() / max(n, 1)
        products = self.normals.product(Z)
        beta = np.zeros((len(self.relative), n))
        for pool in self.pools:
            if len(pool.vectors):
                factor = cho_factor(gram[np.ix_(pool.vectors, pool.vectors)], lower=True)
                solved = cho_solve(factor, products[np.ix_(pool.vectors, pool.decisions)])
                beta[np.ix_(pool.decisions, pool.vectors)] = solved.T
        return beta, products

    def loss(self, Z: Float64Array) -> tuple[float, Float64Array]:
        """Return the sum, without what no vector changes, and its gradient of the shape of Z.

        At the best coefficients the sum is -<beta, W Z>, and its derivative is the one for fixed
        coefficients.
        """
        beta, products = self.coefficients(Z)
        kernel, weighted = self.normals.kernel, beta * self.relative[:, None]
        slope = kernel.gradient(Z, Z, weighted.T @ beta)
        slope -= kernel.gradient(Z, self.normals.vectors, self.normals.sums.back(weighted.T))
        return -float((weighted * products.T).sum()), 2 * slope


def construct(
    machine: KernelMachine,
    start: KernelMachine,
    iterations: int = ITERATIONS,
    normals: Normals | None = None,
) -> KernelMachine:
    """Return a machine of as many vectors as `start`, moved to where |W_p - W^_p| is least.

    L-BFGS moves all vectors together, with analytic gradients and with the best coefficients of
    every step, within the box of the machine's vectors, widened by half. In one-vs-one a vector
    keeps its class. The result is a local optimum that is never worse than the start.

    Parameters
    ----------
    machine : KernelMachine
        The machine that is approximated.
    start : KernelMachine
        A machine of fewer vectors, from a selection for example.
    iterations : int
        Most iterations of L-BFGS.
    normals : Normals, optional
        The machine's normals, if they are known.

    Raises
    ------
    InputError
        The kernel is not positive definite, or has no derivative here.
    """
    kernel = machine.kernel
    if not kernel.has_gradient:
        raise InputError(f"the {kernel.name} kernel has no derivative here: vectors stay in place")
    normals = normals or Normals.of(machine)
    problem = Problem.of(normals, start)
    shape = start.support_vectors.shape
    unit = _unit(normals.vectors)

    def loss(flat: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        value, slope = problem.loss(flat.reshape(shape) * unit)
        return value, (slope * unit).ravel()

    least, most = normals.vectors.min(axis=0), normals.vectors.max(axis=0)
    room = _ROOM * (most - least)
    limits = np.column_stack([(least - room) / unit, (most + room) / unit])
    found = minimize(
        loss,
        (start.support_vectors / unit).ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=np.tile(limits, (shape[0], 1)),
        options={"maxiter": iterations, "maxfun": 2 * iterations},
    )
    return refitted(machine, start, found.x.reshape(shape) * unit, normals)


def refitted(
    machine: KernelMachine, start: KernelMachine, Z: Float64Array, normals: Normals | None = None
) -> KernelMachine:
    """Return the machine with vectors Z in place of the start's, and the best coefficients.

    Parameters
    ----------
    machine, start, normals
        As of `construct`.
    Z : ndarray of the shape of the start's vectors, float64
    """
    beta, _ = Problem.of(normals or Normals.of(machine), start).coefficients(Z)
    return with_vectors(start, Z, beta, vector_classes(start))


def _unit(vectors: Float64Array) -> Float64Array:
    """Return the spread of each feature, in whose units L-BFGS works; 1 where it is 0."""
    spread = vectors.std(axis=0)
    return np.where(spread > 0, spread, 1.0)
