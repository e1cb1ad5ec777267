"""Selection by the number of weights, the l0 penalty (RSS 2004, Algorithms 3.4 and 3.5)."""

from __future__ import annotations

import numpy as np
from problem import Method, Problem
from scipy.linalg import cho_factor, cho_solve

from kmcompile.numeric.arrays import Float64Array

_ROUNDS = 200
_CHANGE = 1e-6
"""The rounds end when no scale changes by more than this share of the largest."""
_LEAST_SCALE = 1e-6
"""A vector is left out if its scale is below this share of the largest, or below its square."""
_LEAST_VALUE = 1e-12
"""Eigenvalues of a scaled Gram matrix below this share of the largest are taken for 0."""


def zero_norm(penalty: float = 0.0) -> Method:
    """Return the method of repeated scaling, whose weights go to 0 or stay.

    Each round solves lambda = ((beta beta') o K)^-1 (diag(beta) K) alpha, as Algorithm 3.4 means
    (its two matrices are exchanged in print), and scales beta_i by |lambda_i|, for several
    decisions by the sum of |lambda_ip| (Algorithm 3.5). With a penalty, each round minimises
    |W - sum_i lambda_i beta_i phi_i|^2 + penalty sum_i lambda_i^2. The paper's penalty on
    lambda_i beta_i is no different from l1: these products are then the same in every round.

    Parameters
    ----------
    penalty : float
        0: the machine stays the same, and only vectors in the span of others are left out. A
        vector that is orthogonal to all others is left out if the length of its part of W, in
        shares of |W|, is below 2 sqrt(penalty).
    """
    return lambda problem: _scaled_again_and_again(problem, penalty)


def _scaled_again_and_again(problem: Problem, penalty: float) -> Float64Array:
    rows = np.arange(len(problem.gram))
    scales = np.ones(len(rows))
    weights = np.zeros_like(problem.products)
    for _ in range(_ROUNDS):
        gram = problem.gram[np.ix_(rows, rows)]
        products = scales[:, None] * problem.products[rows]
        weights = scales[:, None] * _solved(np.outer(scales, scales) * gram, products, penalty)
        new = np.abs(weights).sum(axis=1)
        largest = new.max(initial=0.0)
        kept = new > _LEAST_SCALE * max(largest, _LEAST_SCALE)
        still = bool(kept.all()) and float(np.abs(new - scales).max(initial=0.0)) <= (
            _CHANGE * largest
        )
        rows, scales, weights = rows[kept], new[kept], weights[kept]
        if still or len(rows) == 0:
            break
    found = np.zeros_like(problem.products)
    found[rows] = weights
    return found


def _solved(gram: Float64Array, products: Float64Array, penalty: float) -> Float64Array:
    """Return (gram + penalty 1)^-1 products; without penalty the shortest solution."""
    if penalty > 0:
        ridged = gram + penalty * np.eye(len(gram))
        solved: Float64Array = cho_solve(cho_factor(ridged), products)
        return solved
    values, basis = np.linalg.eigh(gram)
    kept = values > _LEAST_VALUE * values[-1]
    shortest: Float64Array = basis[:, kept] @ (basis[:, kept].T @ products / values[kept, None])
    return shortest
