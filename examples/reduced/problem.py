"""Reduced set selection as a problem in the Gram matrix, for methods that weigh all vectors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from kmcompile.model.coefficients import decision_coefficients, with_decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.drop_unused_vectors import drop_unused_vectors
from kmcompile.passes.reduction.growing import relative_weights
from kmcompile.passes.reduction.pools import Pool, joint_pools

_LEAST_SHARE = 1e-12
"""Singular values below this share of the largest are taken for 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Problem:
    """Make the sum of |W_p - sum_i b_ip phi_i|^2 small with few vectors i.

    Vectors and normals are scaled to length 1, so that penalties are numbers without a unit; with
    kernels of K(x, x) = 1 and one decision it is the paper's problem but for |W|.

    Parameters
    ----------
    gram : ndarray of shape (n, n), float64
        <phi_i, phi_j>, 1 on its diagonal.
    products : ndarray of shape (n, n_decisions), float64
        <phi_i, W_p>.
    start : ndarray of shape (n, n_decisions), float64
        The weights of the machine, with which the sum is 0.
    """

    gram: Float64Array
    products: Float64Array
    start: Float64Array

    def loss(self, weights: Float64Array) -> float:
        """Return the sum of |W_p - W^_p|^2 for weights of shape (n, n_decisions)."""
        apart = weights - self.start
        return float((apart * (self.gram @ apart)).sum())


Method = Callable[[Problem], Float64Array]
"""Returns the weights, shape (n, n_decisions); a vector whose row is 0 is not chosen."""


def problem_of(pool: Pool, normals: Normals) -> tuple[Problem, Float64Array]:
    """Return the problem of a pool, and what its weights are multiplied by to be coefficients."""
    vectors = normals.vectors[pool.vectors]
    lengths = np.sqrt(normals.kernel.self_values(vectors))
    lengths = np.where(lengths > 0, lengths, 1.0)
    relative = np.sqrt(relative_weights(normals)[pool.decisions])
    gram = normals.kernel.fast_values(vectors, vectors)[0] / np.outer(lengths, lengths)
    own = np.ix_(pool.vectors, pool.decisions)
    products = normals.products[own] / lengths[:, None] * relative
    start = normals.coefficients.T[own] * lengths[:, None] * relative
    sizes = np.sqrt(normals.squares[pool.decisions])
    return Problem(gram, products, start), sizes / lengths[:, None]


def select(
    machine: KernelMachine,
    method: Method,
    pools: Sequence[Pool] | None = None,
    refit: bool = True,
) -> KernelMachine:
    """Return the machine of the vectors that a method chooses.

    Parameters
    ----------
    machine : KernelMachine
        Every decision's own vectors are in its pool.
    method : Method
    pools : sequence of Pool, optional
        Default: `joint_pools`.
    refit : bool
        Whether the weights of the chosen vectors are then the best ones (eq. 7).

    Raises
    ------
    InputError
        The kernel is not positive definite.
    """
    normals = Normals.of(machine)
    spread = np.zeros_like(decision_coefficients(machine))
    for pool in joint_pools(machine) if pools is None else pools:
        if len(pool.vectors) == 0:
            continue
        problem, factors = problem_of(pool, normals)
        weights = method(problem)
        if refit:
            weights = refitted(problem, weights)
        spread[np.ix_(pool.decisions, pool.vectors)] = (weights * factors).T
    return drop_unused_vectors(with_decision_coefficients(machine, spread))


def refitted(problem: Problem, weights: Float64Array) -> Float64Array:
    """Return the best weights of the vectors whose rows are not 0 (eq. 7).

    Vectors in the span of others make the Gram matrix singular: the weights are then the shortest.
    """
    rows = np.flatnonzero(np.any(weights != 0, axis=1))
    best = np.zeros_like(weights)
    if len(rows):
        gram = problem.gram[np.ix_(rows, rows)]
        best[rows] = np.linalg.lstsq(gram, problem.products[rows], rcond=_LEAST_SHARE)[0]
    return best
