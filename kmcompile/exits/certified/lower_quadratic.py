"""From a polynomial or sigmoid machine to quadratic bounds whose constants hold in the C."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.rounding import (
    FLOAT32,
    SMALLEST_NORMAL,
    UNIT_ROUNDOFF,
    UNIT_ROUNDOFF_64,
    bound_constants,
    gamma_factor,
)
from kmcompile.program.stages.early_exits.quadratic_bounds import QuadraticBounds

_UP = 1 + 1e-5
"""Covers the roundings of float64 in norms and sums, and those of the radius on the board."""

_LARGEST = 2.0**100
"""No result of an input that the stage decides is larger."""


@dataclass(frozen=True, slots=True, eq=False)
class Parts:
    """f = b + <l, x> + x'Q x + T_3(x) + ... + T_d(x) of a binary machine.

    The polynomial of a polynomial kernel, or Taylor's of a sigmoid one with its remainder T_3. The
    sums over the vectors are float64's; `error` bounds what their roundings make of them.

    Parameters
    ----------
    intercept : float
        b.
    linear : ndarray of shape (n_features,), float64
        l.
    factors : ndarray of shape (n_features,), float64
        Eigenvalues of Q, those of the largest magnitude first.
    directions : ndarray of shape (n_features, n_features), float64
        Their eigenvectors, as rows.
    remainder : float
        Frobenius norm of what the eigenvalues and eigenvectors leave of Q.
    higher : ndarray of shape (degree - 2,), float64
        Norms C_k, k = 3 .. d: |T_k(x)| <= C_k |x|^k, and where x moves by at most delta and is
        no longer than Y before and after, T_k moves by at most k C_k delta Y^(k - 1).
    error : ndarray of shape (3,), float64
        Bounds on the errors of b, of l (its norm) and of Q (its Frobenius norm).
    """

    intercept: float
    linear: Float64Array
    factors: Float64Array
    directions: Float64Array
    remainder: float
    higher: Float64Array
    error: Float64Array

    @classmethod
    def of(cls, machine: KernelMachine) -> Parts:
        """Return the parts of a binary machine, sigmoid or polynomial of degree 2 or more.

        A sum over m vectors of products rounds each term at most m + 4 d + 40 times, the factors
        and the coefficients of `merge_duplicate_vectors` included (Higham, eq. 3.5).
        """
        vectors, beta = machine.support_vectors, machine.dual_coef[0]
        series = machine.kernel.series()
        outer = series.factors
        higher = [_norm(vectors, beta, k, outer[k]) for k in range(3, len(outer))]
        if series.rest is not None:
            higher.append(_rest(series.rest, vectors, beta))
        degree = 2 + len(higher)
        lengths = np.sqrt((vectors**2).sum(axis=1))
        sizes = np.array([abs(outer[k]) * (np.abs(beta) @ lengths**k) for k in range(3)])
        sizes[0] += abs(float(machine.intercept[0]))
        rounding = (len(beta) + 4 * degree + 40) * UNIT_ROUNDOFF_64
        quadratic = outer[2] * (vectors.T * beta) @ vectors
        quadratic = (quadratic + quadratic.T) / 2
        factors, columns = np.linalg.eigh(quadratic)
        order = np.argsort(-np.abs(factors), kind="stable")
        factors, rows = factors[order], np.ascontiguousarray(columns.T[order])
        rest = float(np.linalg.norm(quadratic - (rows.T * factors) @ rows))
        n = len(factors)
        return cls(
            intercept=float(outer[0] * beta.sum() + machine.intercept[0]),
            linear=outer[1] * (beta @ vectors),
            factors=factors,
            directions=rows,
            remainder=rest + 8 * n * UNIT_ROUNDOFF_64 * float(np.abs(factors).sum()),
            higher=np.array(higher),
            error=sizes * rounding * _UP + np.array([machine.intercept_error, 0.0, 0.0]),
        )


def _rest(rest: float, vectors: Float64Array, beta: Float64Array) -> float:
    """Return C with |sum_i beta_i r(<s_i, x>)| <= C |x|^3, r what `Series` leaves out.

    |r(t)| <= rest |t|^3, |r'(t)| <= 3 rest t^2. With N the largest eigenvalue of
    sum_i |beta_i| |s_i| s_i s_i', sum |beta_i| |<s_i, x>|^3 <= N |x|^3 as |<s_i, x>| <= |s_i| |x|,
    and where x moves by delta the remainders move by at most 3 C delta Y^2. C is rest N.
    """
    weights = np.abs(beta) * np.sqrt((vectors**2).sum(axis=1))
    square = (vectors.T * weights) @ vectors
    rounding = (2 * len(beta) + 8 * len(square) + 50) * UNIT_ROUNDOFF_64
    size = float((weights * (vectors**2).sum(axis=1)).sum())
    largest = float(np.linalg.eigvalsh((square + square.T) / 2).max())
    return rest * (max(largest, 0.0) + rounding * size) * _UP


def _norm(vectors: Float64Array, beta: Float64Array, k: int, factor: float) -> float:
    """Return a bound on |factor sum_i beta_i <s_i, x>^k| for |x| = 1.

    sum_i beta_i s_i (s_i o ... o s_i)' is a matrix of n x n^(k - 1) numbers. Its largest singular
    value is a bound, and its square the largest eigenvalue of S'(B o G^(k - 1)) S with B = beta
    beta', G = S S', powers and o elementwise. Roundings are at most 2 m + k (n + 4) + 50 for each
    term of the sum.
    """
    gram = vectors @ vectors.T
    inner = np.outer(beta, beta) * gram ** (k - 1)
    square = vectors.T @ inner @ vectors
    m, n = vectors.shape
    size = float((np.abs(beta) @ np.sqrt((vectors**2).sum(axis=1)) ** k) ** 2)
    rounding = (2 * m + k * (n + 4) + 8 * n + 50) * UNIT_ROUNDOFF_64
    largest = float(np.linalg.eigvalsh((square + square.T) / 2).max())
    return abs(factor) * float(np.sqrt(max(largest, 0.0) + rounding * size)) * _UP


def lower_quadratic(parts: Parts, n_squares: int) -> QuadraticBounds:
    """Return the stage with this many squares.

    Let hats be stored or computed numbers, w_k = |v^_k| + zeta_k with zeta_k = gamma_n |v^_k|
    (Higham, eq. 3.5), u = 2^-24, all |x^| <= Y, and A the largest below_r or above_r.

    - <l, x>: off by (gamma_n |l^| + |l - l^|) Y.
    - z_k is off by zeta_k Y, so z_k^2 by 2 zeta_k w_k Y^2.
    - The exact rest: with E_r = Q - sum_(k <= r) c^_k v^_k v^_k' - sum_(k > r) c_k v_k v_k' and
      H_r = I - sum_(k <= r) v^_k v^_k' - sum_(k > r) v_k v_k', all eigenvalues c_k behind r being
      at most above_r, x'R_r x <= above_r (|x|^2 - sum_(k <= r) <v^_k, x>^2) + (|E_r| + above_r
      |H_r|) |x|^2 in Frobenius norms; and the same for -x'R_r x and below_r.
    - q_r, computed from Y >= |x^|, is too small by at most
      (sum 2 zeta_k w_k + (3 r + 4) u (1 + sum w_k^2)) Y^2, times A.
    - Each term of the value passes at most r + 8 roundings, up to the interval's ends:
      gamma_(r + 8) (|b^| + 1.01 |l^| Y + (sum |c^_k| w_k^2 + A (1 + sum w_k^2)) Y^2).
    - T_k: C_k Y^k. The input: f moves by at most delta (|l| + 2 |Q| Y + sum k C_k Y^(k - 1)).
    - Underflow: with t = 4 n 2^-126, z_k is off by t (1 + Y) more, the other results by
      (8 r + 16) 2^-126 (1 + A).
    """
    n, r = len(parts.linear), n_squares
    wanted = np.vstack([parts.linear[None], parts.directions[:r]])
    rows = FLOAT32.flushed(wanted.astype(np.float32))
    factors = FLOAT32.flushed(parts.factors[:r].astype(np.float32))
    levels = np.column_stack([np.append(np.float32(0.0), factors), *_rests(parts.factors, r)])
    wide, c = rows.astype(np.float64), np.abs(factors.astype(np.float64))
    sizes = np.sqrt((wide**2).sum(axis=1)) * _UP
    zeta = gamma_factor(n) * sizes[1:]
    w = sizes[1:] + zeta
    outside = 1 + float((w**2).sum())
    most = float(np.abs(levels[:, 1:]).max())
    apart, aside = _stored(parts, wide[1:], factors.astype(np.float64))
    lost = 2 * float((zeta * w).sum()) + (3 * r + 4) * UNIT_ROUNDOFF * outside
    tiny = 4 * n * SMALLEST_NORMAL
    flushed = tiny * (1 + float(((c + most) * (2 * w + zeta + 1)).sum()))
    underflow = flushed + (8 * r + 16) * (1 + most) * SMALLEST_NORMAL
    sums = gamma_factor(r + 8)
    intercept = np.float32(parts.intercept)
    off = np.linalg.norm(parts.linear - wide[0]) + parts.error[1]
    curved = float((c * w**2).sum()) + most * outside
    radii = [
        abs(parts.intercept - float(intercept)) + parts.error[0] + sums * abs(intercept),
        gamma_factor(n) * sizes[0] + off + 1.01 * sums * sizes[0],
        2 * float((c * zeta * w).sum())
        + (apart + parts.error[2] + most * aside)
        + most * lost
        + sums * curved,
        *parts.higher,
    ]
    radii[:3] = [radius + underflow for radius in radii[:3]]
    slopes = [
        float(np.linalg.norm(parts.linear)) + parts.error[1],
        2 * (float(np.abs(parts.factors).max()) + parts.remainder + parts.error[2]),
        *(k * size for k, size in enumerate(parts.higher, start=3)),
    ]
    magnitudes = (abs(parts.intercept), 2 * sizes[0], curved + outside)
    return QuadraticBounds(
        rows=rows,
        levels=levels,
        radii=bound_constants(np.array(radii) * _UP),
        slopes=bound_constants(np.array(slopes) * _UP),
        intercept=intercept,
        largest=_largest((*radii, *slopes, *magnitudes), len(radii)),
    )


def _rests(factors: Float64Array, r: int) -> tuple[Float32Array, Float32Array]:
    """Return how far the eigenvalues behind each of r + 1 levels lie below and above 0."""
    behind = [np.append(factors[level:], 0.0) for level in range(r + 1)]
    below, above = ([float(max(sign * rest)) for rest in behind] for sign in (-1.0, 1.0))
    return bound_constants(below), bound_constants(above)


def _stored(parts: Parts, rows: Float64Array, factors: Float64Array) -> tuple[float, float]:
    """Return bounds on the Frobenius norms |E_r| and |H_r| of all levels."""
    n, V = len(parts.factors), parts.directions
    exact = float(np.linalg.norm(np.eye(n) - V.T @ V)) + 8 * n**1.5 * UNIT_ROUNDOFF_64
    apart, aside = parts.remainder, exact
    for stored, factor, row, trained in zip(rows, factors, V, parts.factors, strict=False):
        now, before = np.outer(stored, stored), np.outer(row, row)
        apart += float(np.linalg.norm(factor * now - trained * before))
        aside += float(np.linalg.norm(now - before))
    return apart * _UP, aside * _UP


def _largest(sizes: tuple[float, ...], n_powers: int) -> np.float32:
    """Return a Y up to which every result stays below 2^100: each size times Y^n_powers or less."""
    exponent = np.log2(_LARGEST / (8 * len(sizes) * max(1.0, *map(float, sizes)))) / n_powers
    return np.float32(2.0 ** np.floor(exponent))
