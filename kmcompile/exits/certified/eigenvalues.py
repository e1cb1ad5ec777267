"""Upper bounds on the largest eigenvalue of symmetric matrices, rounding included."""

from __future__ import annotations

import numpy as np
from scipy.linalg.lapack import dpotrf

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

_LARGE = 128
"""Width from which one Cholesky factor costs far less than all eigenvalues."""

_SMALL = 32
"""Width up to which all eigenvalues cost no more than one Cholesky factor in Python."""

_STEPS = 40
_TRIED = (1e-5, 1e-3)
"""How far above the estimate bounds are tried, as shares of the estimate's magnitude."""


def largest_eigenvalue(matrix: Float64Array) -> float:
    """Return an upper bound on the largest eigenvalue of a symmetric matrix.

    LAPACK's eigenvalues are those of a matrix that differs by at most p(n) u |A|_2, with p a modest
    function of n (Users' Guide, section 4.7). The p(n) = 16 n + 64 used here is far above observed
    errors. For a large matrix, a bound a little above an estimate is proved by `is_below`.
    """
    if len(matrix) >= _LARGE:
        estimate = _estimated(matrix)
        for share in _TRIED:
            bound = estimate + share * abs(estimate)
            if bound > estimate and is_below(matrix, bound):
                return bound
    least, largest = extreme_eigenvalues(matrix)
    return largest + _slack(len(matrix)) * max(abs(least), abs(largest))


def expected_largest(matrix: Float64Array, expected: float) -> float:
    """Return an upper bound on the largest eigenvalue: `expected` if that is proved to be one.

    One Cholesky factor takes a tenth of the time of all eigenvalues, except of a small matrix.
    """
    if len(matrix) >= _SMALL and is_below(matrix, expected):
        return expected
    return largest_eigenvalue(matrix)


def extreme_eigenvalues(matrix: Float64Array) -> tuple[float, float]:
    """Return the smallest and the largest eigenvalue of a symmetric matrix as LAPACK finds them."""
    values = np.linalg.eigvalsh(matrix)
    return float(values[0]), float(values[-1])


def estimated_ends(matrix: Float64Array) -> tuple[float, float]:
    """Return estimates of the smallest and the largest eigenvalue of a symmetric matrix."""
    if len(matrix) < _LARGE:
        return extreme_eigenvalues(matrix)
    return -_estimated(-matrix), _estimated(matrix)


def distance_from(ends: Float64Array, middle: Float64Array, width: int) -> Float64Array:
    """Return upper bounds on the spectral norms of M - m I, given LAPACK's ends of M's spectrum.

    The eigenvalues of M - m I are those of M, less m: no matrix is rounded.

    Parameters
    ----------
    ends : ndarray of shape (n, 2), float64
    middle : ndarray of shape (n,), float64
        m.
    width : int
        Width of each M.
    """
    far = np.maximum(ends[:, 1] - middle, middle - ends[:, 0])
    rounded: Float64Array = far + _slack(width) * np.abs(ends).max(axis=1)
    rounded += 4 * UNIT_ROUNDOFF_64 * (np.abs(ends).max(axis=1) + np.abs(middle))
    return rounded


def _slack(n: int) -> float:
    return (16 * n + 64) * UNIT_ROUNDOFF_64


def is_below(matrix: Float64Array, bound: float) -> bool:
    """Return whether Cholesky's factorisation proves that all eigenvalues are at most `bound`.

    If it runs to its end on H, then H + E is positive semidefinite, with |E| at most
    gamma_(n + 1) |R^T| |R|, whose norm is at most gamma_(n + 1) / (1 - gamma_(n + 1)) trace(H)
    (Higham, theorem 10.3 and its proof). H = b I - A with b so far below `bound` that this, the
    rounding of the diagonal and that of the trace fit between them.

    References
    ----------
    Higham, Accuracy and Stability of Numerical Algorithms (2002). S. M. Rump, Verification of
    positive definiteness (2006).
    """
    n = len(matrix)
    trace = n * abs(bound) + float(np.abs(np.diag(matrix)).sum())
    lowered = bound - 4 * (n + 2) * UNIT_ROUNDOFF_64 * trace
    H = -matrix
    H.flat[:: n + 1] += lowered
    return int(dpotrf(H, lower=1, clean=0, overwrite_a=1)[1]) == 0


def _estimated(matrix: Float64Array) -> float:
    """Return an estimate of the largest eigenvalue from below, by Lanczos' method."""
    n = len(matrix)
    rng = np.random.default_rng(n)
    basis = np.zeros((min(_STEPS, n), n))
    q = rng.standard_normal(n)
    basis[0] = q / np.linalg.norm(q)
    for step in range(1, len(basis)):
        q = matrix @ basis[step - 1]
        for _ in range(2):  # once more for what the first pass leaves by rounding
            q -= basis[:step].T @ (basis[:step] @ q)
        length = float(np.linalg.norm(q))
        if length <= 1e-12 * float(np.abs(basis[step - 1] @ matrix).max(initial=1e-300)):
            basis = basis[:step]
            break
        basis[step] = q / length
    inner = basis @ (matrix @ basis.T)
    return extreme_eigenvalues((inner + inner.T) / 2)[1]
