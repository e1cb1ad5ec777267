"""Compute the float32 constants of a local expansion; `LocalExpansion` derives the formulas."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kmcompile.exits.certified.eigenvalues import (
    distance_from,
    estimated_ends,
    expected_largest,
    largest_eigenvalue,
)
from kmcompile.exits.certified.expansion import Expansion
from kmcompile.exits.certified.expansion_norms import N_SQUARES
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.rounding import (
    FLOAT32,
    SMALLEST_NORMAL,
    UNIT_ROUNDOFF,
    bound_constant,
    bound_constants,
    gamma_factor,
)
from kmcompile.numeric.scalar import exp_negative
from kmcompile.program.stages.early_exits.nearest_centre import LARGEST_RELATIVE

_SHARES = np.geomspace(1e-3, 3.0, 36)
"""Values that are tried for the parameter that splits a bound into two terms."""

_STORAGE = 2.0**-20
"""What the storage of a form in float32 adds to a bound at most, as a share of its matrix's norm.
It is only expected: each bound is proved."""

_UP = 1 + 1e-9


def reach_constants(gamma: float, n_features: int) -> dict[str, np.float32]:
    """Return the constants that bound the rounding of p, of q and of the last addition."""
    n, tau = n_features, exp_negative.RELATIVE_ERROR
    widen = (1 + float(LARGEST_RELATIVE)) / (1 - tau)
    g = gamma_factor(n + 4)
    return {
        "up": bound_constant(1 / np.sqrt(1 - gamma_factor(n + 2))),
        "relative": bound_constant(
            tau / (1 - tau) + UNIT_ROUNDOFF * (3 * (1 + float(LARGEST_RELATIVE)) + 1)
        ),
        "relative_per_square": bound_constant(widen * g / (1 - g) * gamma * (1 + UNIT_ROUNDOFF)),
        "relative_per_reach": bound_constant(widen * 2 * gamma),
        "result_error": bound_constant(2 * UNIT_ROUNDOFF),
    }


def stored(values: Float64Array) -> Float64Array:
    """Return the values rounded to float32, subnormal ones set to 0, as float64."""
    return FLOAT32.flushed(np.asarray(values, dtype=np.float32)).astype(np.float64)


def linear_rows(
    e: Expansion, radius: float, storage: Float64Array
) -> tuple[Float64Array, Float32Array]:
    """Return the linear weights and `LocalExpansion.constants` of one centre.

    Parameters
    ----------
    e : Expansion
    radius : float
        At most that of the expansion.
    storage : ndarray of shape (n_rows,), float64
        Rounding errors of the stored intercepts b.
    """
    n, u = len(e.centre), UNIT_ROUNDOFF
    weights, constant = stored(e.linear), stored(e.constant)
    curvature = stored(e.ends.mean(axis=1))
    half = distance_from(e.ends, curvature, n)
    length = np.sqrt((weights**2).sum(axis=1))
    bounds = (
        gamma_factor(n + 1) * length + np.sqrt(((weights - e.linear) ** 2).sum(axis=1)) * _UP,
        half + np.abs(curvature) * (gamma_factor(n + 2) * (1 + 2.0**-10) + 3 * u),
        *e.powers(radius).T,
        length * _UP + 2 * radius * np.abs(curvature),
        _minimum(e, radius, constant, storage, np.abs(weights).sum(axis=1) + np.abs(curvature)),
    )
    rows = np.stack([constant, curvature, *(bound_constants(b) for b in bounds)], axis=1)
    return weights, rows.astype(np.float32)


def _minimum(
    e: Expansion,
    radius: float,
    constant: Float64Array,
    storage: Float64Array,
    size: Float64Array,
) -> Float64Array:
    """Return bounds on the errors of f that are the same for every input.

    An error of h counts at most as much in f, since exp(-gamma |v|^2) <= 1.

    Underflow: at most 16 (n + 2)^2 operations are each off by 2^-126. This error is then multiplied
    by at most (1 + R)^4 and the coefficients' `size`.
    """
    n = len(e.centre)
    underflow = 16 * (n + 2) ** 2 * (1 + radius) ** 4 * (1 + size) * SMALLEST_NORMAL
    total: Float64Array = (e.error + np.abs(constant - e.constant) + storage) * _UP + underflow
    return total


@dataclass(frozen=True, slots=True, eq=False)
class Bend:
    """The forms of one row along a basis, and the bounds of what they leave at any radius.

    Parameters
    ----------
    forms : ndarray of shape (3, n_basis, n_basis), float32
        Q, P and T.
    curvature, rest : float
        m and k of `_second_order`.
    across : float
        t of `_higher_orders`.
    shares : tuple of float
        a4 .. a7.
    """

    forms: Float32Array
    curvature: float
    rest: float
    across: float
    shares: tuple[float, ...]


def bend_of(e: Expansion, row: int, basis: Float32Array, moments: Float64Array) -> Bend:
    """Return the forms of one row along a basis.

    Parameters
    ----------
    basis : ndarray of shape (n_basis, n_features), float32
        B.
    moments : ndarray of shape (n_features, n_features), float64
        The mean of v v^T over the samples for which the bounds should be small.
    """
    B = basis.astype(np.float64)
    size = float(np.abs(e.ends[row]).max())
    Q, P, curvature, rest = _second_order(e.quadratic[row], B, moments, size)
    T, t, shares = _higher_orders(e, row, B, moments)
    forms = np.array([Q, P, T], dtype=np.float32)
    return Bend(forms, curvature, rest, t, tuple(shares))


def curved_rows(
    e: Expansion,
    radius: float,
    storage: Float64Array,
    basis: Float32Array,
    bends: Sequence[Bend],
) -> tuple[Float32Array, Float32Array]:
    """Return `LocalExpansion.forms` and `curved` of one centre, given the `bend_of` of its rows."""
    (r, n), u = basis.shape, UNIT_ROUNDOFF
    weights, constant = stored(e.linear), stored(e.constant)
    length = np.sqrt((weights**2).sum(axis=1))
    moved = np.sqrt(((weights - e.linear) ** 2).sum(axis=1)) * _UP
    basis_square = float((basis.astype(np.float64) ** 2).sum()) * _UP
    rounding = (2 * gamma_factor(n + 1) + gamma_factor(2 * r + 2)) * (1 + 2.0**-10) + 12 * u
    forms = np.stack([bend.forms for bend in bends]).astype(np.float64)
    size = np.sqrt((forms**2).sum(axis=(2, 3))) * basis_square * _UP
    curvature = np.array([bend.curvature for bend in bends])
    second = size[:, 0] + size[:, 1]
    bounds = (
        gamma_factor(n + 1) * length + moved,
        np.array([bend.rest for bend in bends])
        + second * rounding
        + np.abs(curvature) * (gamma_factor(n + 2) * (1 + 2.0**-10) + 4 * u),
        e.powers(radius, last=8)[:, 5],
        length * _UP + radius * (2 * np.abs(curvature) + 2.1 * second),
        _minimum(e, radius, constant, storage, np.abs(weights).sum(axis=1) + size.sum(axis=1)),
        np.array([bend.across for bend in bends]) + size[:, 2] * rounding,
        2.1 * radius * size[:, 2],
        *np.array([bend.shares for bend in bends]).T,
    )
    rows = np.stack([curvature, *(bound_constants(b) for b in bounds)], axis=1)
    return _packed(forms), rows.astype(np.float32)


def _second_order(
    M: Float64Array, B: Float64Array, moments: Float64Array, size: float
) -> tuple[Float64Array, Float64Array, float, float]:
    """Return Q, P, m and k with |<v, M v> - <y, Q y> - m |v|^2| <= <y, P y> + k |v|^2, y = B v.

    B is nearly orthonormal; z is the component of v outside the span of B's rows. Q takes M's part
    in the span. For the other parts, 2 <y, X z> <= <y, X X^T y> / mu + mu |z|^2. <z, M z> lies
    between |z|^2 times M's smallest and largest eigenvalues outside the span; m is their midpoint.
    mu is chosen for the smallest mean bound: k = mu + half the range of these eigenvalues. That k,
    or a smaller one, is proved last, for the stored Q, P, m and B, where a part is outside.
    `size` is the largest magnitude of M's eigenvalues.
    """
    r, n = B.shape
    inside, cross, outside = _split(M, B)
    least, largest = estimated_ends(outside)
    m = float(stored(np.array((least + largest) / 2)))
    Q = _symmetric(inside - m * np.eye(r))
    cross = cross @ cross.T
    half = (largest - least) / 2
    scale = size + 1e-300
    ks = half + scale * _SHARES
    inner = B @ moments @ B.T
    cost = (cross * inner).sum() / (scale * _SHARES) + ks * (np.trace(moments) - np.trace(inner))
    best = int(np.argmin(cost))
    P = _symmetric(cross / (scale * _SHARES[best]) - ks[best] * np.eye(r))
    rest = M - B.T @ Q @ B - m * np.eye(n)
    bound = B.T @ P @ B
    expected = ks[best] + _STORAGE * size
    k = max(*(_largest(_even(side - bound), expected, r) for side in (rest, -rest)), 0.0)
    return Q, P, m, k + _rounded(M, B, Q, P)


def _largest(matrix: Float64Array, expected: float, n_basis: int) -> float:
    """Return a bound on the largest eigenvalue: with no part outside the basis, close to it.

    There what is left is rounding, and far below what is expected.
    """
    if n_basis == len(matrix):
        return largest_eigenvalue(matrix)
    return expected_largest(matrix, expected)


def _higher_orders(
    e: Expansion, row: int, B: Float64Array, moments: Float64Array
) -> tuple[Float64Array, float, list[float]]:
    """Return T, t and a_4 .. a_7, which bound the orders 3 to 7 as `LocalExpansion` derives.

    Order k is at most |v|^(k-1) |B_k v|, and by Cauchy-Schwarz, for any a_k > 0, a_3 = 1,

        sum_k |v|^(k-3) |B_k v| <= sqrt(sum_k a_k |v|^(2k-6)) sqrt(sum_k |B_k v|^2 / a_k),

    with equality where a_k |v|^(k-3) is |B_k v| / |B_3 v|. Let A = sum_k B_k^T B_k / a_k, and z the
    component of v outside the span of B's rows. For any s > 0,
    <v, A v> <= (1 + s) <y, A y> + (1 + 1/s) <z, A z>.
    """
    r = len(B)
    length = float(np.sqrt(np.trace(moments)))
    third = float(e.norms[row, 0]) + 1e-300
    a = [float(stored(e.norms[row, k] / (third * length**k) + 1e-20)) for k in range(1, N_SQUARES)]
    weights = 1 / np.array([1.0, *a])
    A = np.tensordot(weights, e.squares[row], axes=1)
    inside, _, across = _split(A, B)
    inner = B @ moments @ B.T
    outside = max(estimated_ends(across)[1], 0.0)
    s = 20 * _SHARES
    ks = (1 + 1 / s) * outside
    cost = (1 + s) * (inside * inner).sum() + ks * (np.trace(moments) - np.trace(inner))
    best = int(np.argmin(cost))
    T = _symmetric((1 + s[best]) * inside - ks[best] * np.eye(r))
    expected = ks[best] + _STORAGE * float(np.linalg.norm(A))
    t = max(_largest(_even(A - B.T @ T @ B), expected, r), 0.0) + _rounded(A, B, T)
    return T, t + float(weights @ e.squares_error[row]) * _UP, a


def _split(M: Float64Array, B: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
    """Return B M B^T, B M (I - B^T B) and (I - B^T B) M (I - B^T B) for a symmetric M.

    No matrix as wide as M is multiplied by another one. No bound depends on their rounding.
    """
    rows = B @ M
    inside = rows @ B.T
    cross = rows - inside @ B
    mixed = cross.T @ B
    return inside, cross, _even(M - B.T @ inside @ B) - mixed - mixed.T


def _symmetric(form: Float64Array) -> Float64Array:
    """Return a quadratic form as the stage stores it: symmetric, in float32."""
    return stored(_even(form))


def _even(matrix: Float64Array) -> Float64Array:
    return (matrix + matrix.T) / 2


def _rounded(M: Float64Array, B: Float64Array, *forms: Float64Array) -> float:
    """Return a bound, as a norm, on the rounding of products and sums of M and B in float64."""
    length = float((B**2).sum())
    size = np.linalg.norm(M) + sum(float(np.linalg.norm(form)) for form in forms) * length
    return float(size) * 4 * (len(M) + len(B) + 4) * 2.0**-53


def _packed(forms: Float64Array) -> Float32Array:
    """Return the upper triangles of forms row by row, with the off-diagonal elements doubled."""
    n = forms.shape[-1]
    factor = 2 - np.eye(n)
    return (factor * forms)[..., *np.triu_indices(n)].astype(np.float32)
