"""Selection by the sum of absolute weights, the l1 penalty (RSS 2004, eq. 4 and 5)."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from problem import Method, Problem
from scipy.linalg import cho_factor, cho_solve
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import lasso_path

from kmcompile.numeric.arrays import Float64Array

_SWEEPS = 10_000
_GAP = 1e-7
"""Several decisions: largest duality gap at the end, in shares of |W|^2."""
_LEAST_VALUE = 1e-13
"""Eigenvalues of the Gram matrix below this share of the largest are taken for 0."""
_RIDGE = 1e-12
"""Added to the diagonal of Gram matrices, so that they can be factorised."""
_EXCESS = 1e-6
"""A vector stays out whose slope is at most this share above the penalty."""
_STEPS = 50
"""One decision: most steps for each vector."""


def one_norm(penalty: float) -> Method:
    """Return the method that minimises |W - W^|^2 + penalty sum_i |b_i|.

    For several decisions |b_i| is the length of the row b_i1, ..., b_ip. The paper takes the
    largest absolute value (eq. 5); both choose a vector for all decisions or for none.

    Parameters
    ----------
    penalty : float
        From `largest_penalty` on, nothing is chosen.
    """
    return lambda problem: one_norm_path(problem, [penalty])[0]


def one_norm_path(problem: Problem, penalties: Sequence[float]) -> list[Float64Array]:
    """Return the weights for each penalty, each found from those of the next larger one.

    With one decision the weights are exact: vectors enter and leave until the conditions of the
    optimum hold. Least angles (LARS) end early on nearly singular Gram matrices, as those of many
    RBF machines are, and coordinate descent takes too many sweeps on them. With several decisions
    it is coordinate descent all the same, and ends after so many sweeps.
    """
    largest_first = np.argsort(penalties)[::-1]
    weights = [np.zeros_like(problem.products)] * len(penalties)
    if problem.products.shape[1] == 1:
        now = np.zeros(len(problem.gram))
        for at in largest_first:
            now = _active_set(problem.gram, problem.products[:, 0], penalties[at] / 2, now)
            weights[at] = now[:, None]
        return weights
    root, target = _root(problem)
    # scikit-learn minimises |Y - X b|^2 / (2 n_rows) + alpha |b|.
    alphas = np.asarray(penalties, dtype=float)[largest_first] / (2 * len(root))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        _, found, _ = lasso_path(root, target, alphas=alphas, tol=_GAP, max_iter=_SWEEPS)
    for number, at in enumerate(largest_first):
        weights[at] = np.ascontiguousarray(found[:, :, number].T)
    return weights


def _active_set(
    gram: Float64Array, products: Float64Array, by: float, start: Float64Array
) -> Float64Array:
    """Return the b that minimises b'Gb / 2 - c'b + by |b|, from a start.

    With the signs of the active weights fixed it is a linear system; on the way to its solution the
    first weight that reaches 0 leaves. When none does, the vector with the steepest slope enters.
    """
    b, signs = start.copy(), np.sign(start)
    for _ in range(_STEPS * len(b)):
        active = np.flatnonzero(signs)
        reached = True
        if len(active):
            ridged = gram[np.ix_(active, active)] + _RIDGE * np.eye(len(active))
            goal = cho_solve(cho_factor(ridged), products[active] - by * signs[active])
            way = goal - b[active]
            leaving = np.flatnonzero(goal * signs[active] <= 0)
            reached = len(leaving) == 0
            if reached:
                b[active] = goal
            else:
                shares = -b[active[leaving]] / np.where(way[leaving] == 0, 1.0, way[leaving])
                first = leaving[shares.argmin()]
                b[active] += shares.min() * way
                b[active[first]] = signs[active[first]] = 0.0
        if reached:
            slopes = np.where(signs == 0, products - gram[:, active] @ b[active], 0.0)
            steepest = int(np.abs(slopes).argmax())
            if abs(slopes[steepest]) <= by * (1 + _EXCESS):
                break
            signs[steepest] = np.sign(slopes[steepest])
    return b


def largest_penalty(problem: Problem) -> float:
    """Return the least penalty with which no vector is chosen."""
    return 2.0 * float(np.sqrt((problem.products**2).sum(axis=1)).max())


def _root(problem: Problem) -> tuple[Float64Array, Float64Array]:
    """Return X (rank, n) and Y (rank, n_decisions): X'X is the Gram matrix, X'Y the products."""
    values, basis = np.linalg.eigh(problem.gram)
    kept = values > _LEAST_VALUE * values[-1]
    sizes, rows = np.sqrt(values[kept]), basis[:, kept].T
    root = np.asfortranarray(sizes[:, None] * rows)
    return root, np.asfortranarray(rows @ problem.products / sizes[:, None])
