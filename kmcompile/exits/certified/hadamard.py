"""Upper bounds on the largest eigenvalues of weighted Hadamard powers of a Gram matrix."""

from __future__ import annotations

import numpy as np

from kmcompile.numeric.arrays import Float64Array

POWER_STEPS = 30


def largest_eigenvalues(rows: Float64Array, delta: Float64Array, n_powers: int) -> Float64Array:
    """Return upper bounds on the largest eigenvalue of [delta_i <r_i, r_j>^k delta_j], k = 1 ...

    For k = 1 it is the square of the largest singular value of delta R. For k > 1 it is at most the
    spectral radius of B, the matrix of the magnitudes of the entries. That radius is at most
    max_i (B v)_i / v_i for any v > 0 (Collatz and Wielandt); a few steps of the power method give
    v. For even k, B is the matrix itself.

    Parameters
    ----------
    rows : ndarray of shape (n, n_features), float64
    delta : ndarray of shape (n,), float64
        Positive.
    n_powers : int

    Returns
    -------
    ndarray of shape (n_powers,), float64

    References
    ----------
    R. A. Horn and C. R. Johnson, Matrix Analysis (2013), 8.1.18 and 8.1.26.

    Examples
    --------
    >>> largest_eigenvalues(np.eye(2) * 0.5, np.ones(2), 3).round(6).tolist()
    [0.25, 0.0625, 0.015625]
    """
    magnitude = rows @ rows.T
    np.abs(magnitude, out=magnitude)  # in place: there may be thousands of rows
    bounds = np.empty(n_powers)
    bounds[0] = np.linalg.norm(delta[:, None] * rows, 2) ** 2
    power = magnitude.copy()
    for k in range(1, n_powers):
        power *= magnitude
        bounds[k] = _perron_bound(power, delta)
    return bounds * (1 + 1e-9) + np.finfo(np.float64).tiny


def _perron_bound(B: Float64Array, delta: Float64Array) -> float:
    scale = max(float((delta**2 * np.diag(B)).max()), np.finfo(np.float64).tiny)
    v = np.ones(len(B))
    bound = np.inf
    for _ in range(POWER_STEPS):
        image = delta * (B @ (delta * v)) / scale
        bound = min(bound, float((image / v).max()))
        if image.max() == 0:
            break
        # A row that is orthogonal to all others keeps a share, so that v stays positive.
        v = image / image.max() + 1e-9
    return bound * scale
