"""How far a machine with rounded vectors and coefficients is from the trained one, as a whole.

W = sum_i beta_i phi(s_i) is the trained machine in the rbf kernel's feature space and
V = sum_i c_i phi(S_i) the stored one. For the exactly prepared input x and the stored X, by
Cauchy-Schwarz and |phi| = 1,

    |<W, phi(x)> - <V, phi(X)>| <= |W - V| + |V| |phi(x) - phi(X)|,
    |phi(x) - phi(X)|^2 = 2 - 2 exp(-gamma |x - X|^2) <= 2 gamma |x - X|^2.

Of the query only |x - X| takes part. What is wrong with single vectors partly cancels in |W - V|,
and more of it once the coefficients are fitted again to the stored vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

_BLOCK_VALUES = 1 << 22
_RIDGE = 1e-6
_MOST_REFITTED = 4000
"""Vectors of a decision; a refit takes their third power."""

_FUNCTIONS = 64 * UNIT_ROUNDOFF_64
"""Relative error of the functions and products that make one element."""

_MOST_MOVED = 1.0
"""Of gamma |s - S|^2: beyond it a stored vector has little to do with the trained one."""


@dataclass(frozen=True, slots=True)
class Distance:
    """Upper bounds in the feature space, of every decision.

    Parameters
    ----------
    apart : ndarray of shape (n_decisions,), float64
        |W - V|.
    length : ndarray of shape (n_decisions,), float64
        |V|.
    """

    apart: Float64Array
    length: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Block:
    """Rows of the inner products of `VectorPairs`.

    Parameters
    ----------
    part : slice
        Which rows.
    kernel, moved, twice : ndarray of shape (n_rows, n), float64
        G, F and H.
    steepest : float
        The largest exp(-z) |e^c - 1| max(1, e^r).
    """

    part: slice
    kernel: Float64Array
    moved: Float64Array
    twice: Float64Array
    steepest: float


@dataclass(frozen=True, slots=True, eq=False)
class VectorPairs:
    """Trained vectors s and the stored ones, S, under exp(-gamma |.|^2).

    Parameters
    ----------
    gamma : float
    trained, stored : ndarray of shape (n, n_features), float64
    """

    gamma: float
    trained: Float64Array
    stored: Float64Array

    def chosen(self, rows: np.ndarray) -> VectorPairs:
        """Return some of the pairs."""
        return VectorPairs(self.gamma, self.trained[rows], self.stored[rows])

    @property
    def far(self) -> bool:
        """Whether a stored vector is so far from the trained one that nothing is computed."""
        apart = ((self.trained - self.stored) ** 2).sum(axis=1)
        return bool(self.gamma * apart.max() > _MOST_MOVED)

    def blocks(self) -> Iterator[Block]:
        """Yield rows of G_ij = <phi(S_i), phi(S_j)>, F_ij = <phi(S_i), d_j>, H_ij = <d_i, d_j>.

        d = phi(s) - phi(S). With D = S_i - S_j and e = s - S the squared distances are |D|^2 plus
        |e_j|^2 - 2 <D, e_j> for S_i and s_j, plus |e_i|^2 + 2 <D, e_i> for s_i and S_j, and plus
        both and - 2 <e_i, e_j> for s_i and s_j. With z = gamma |D|^2 and c, r and -b these
        additions times -gamma,

            F = exp(-z) (e^c - 1),  H = exp(-z) ((e^r - 1) (e^c - 1) + e^(r + c) (e^b - 1)),

        in which no kernels are subtracted: e^c - 1 = +-(1 - e^-|c|) e^max(c, 0). Kernels are 1 at
        most, so that no exponent exceeds |b|, which is at most 2 unless the pairs are `far`.
        """
        S, e = self.stored, self.trained - self.stored
        squares, rests, own = (S**2).sum(axis=1), (e**2).sum(axis=1), (S * e).sum(axis=1)
        rows = max(1, _BLOCK_VALUES // len(S))
        for start in range(0, len(S), rows):
            part = slice(start, start + rows)
            apart = squares[part, None] + squares - 2 * (S[part] @ S.T)
            z = self.gamma * np.maximum(apart, 0.0)
            kernel = np.exp(-z)
            if not e.any():
                nothing = np.zeros_like(kernel)
                yield Block(part, kernel, nothing, nothing, 0.0)
                continue
            column = -self.gamma * (rests - 2 * (S[part] @ e.T - own))
            row = -self.gamma * (rests[part, None] + 2 * (own[part, None] - e[part] @ S.T))
            above = np.maximum(column, 0.0) - z
            moved = -np.expm1(-np.abs(column))
            steep = moved * np.exp(np.maximum(row, 0.0) + above)
            both = np.sign(row) * np.sign(column) * steep * -np.expm1(-np.abs(row))
            both += np.exp(row + column - z) * np.expm1(2 * self.gamma * (e[part] @ e.T))
            yield Block(part, kernel, np.sign(column) * moved * np.exp(above), both, steep.max())

    def errors(self) -> tuple[float, float, float]:
        """Return the relative error of an element and those of the exponents, by themselves.

        An inner product of n terms is off by at most gamma_n times the lengths (Higham, eq. 3.5):
        a squared distance of S by that of 4 max |S|^2, the exponents that hold <D, e> and
        <e, e> by that of 4 max |S| max |e| + max |e|^2 and of 2 max |e|^2.
        """
        unit = 2 * self.gamma * (self.stored.shape[1] + 4) * UNIT_ROUNDOFF_64
        longest = float(np.sqrt((self.stored**2).sum(axis=1)).max())
        moved = float(np.sqrt(((self.trained - self.stored) ** 2).sum(axis=1)).max())
        relative = _FUNCTIONS + 4 * unit * longest**2
        return relative, unit * (4 * longest + moved) * moved, 2 * unit * moved**2


def refitted(pairs: VectorPairs, beta: Float64Array) -> Float64Array:
    """Return coefficients of the stored vectors that bring V near W, shape (n_decisions, n).

    Parameters
    ----------
    pairs : VectorPairs
    beta : ndarray of shape (n_decisions, n), float64
        Those of the trained ones; 0 stays 0.
    """
    fitted = beta.copy()
    for row in fitted if not pairs.far else ():
        used = np.flatnonzero(row)
        if not 0 < len(used) <= _MOST_REFITTED:
            continue
        blocks = list(pairs.chosen(used).blocks())
        gram = np.concatenate([block.kernel for block in blocks])
        moved = np.concatenate([block.moved for block in blocks])
        gram[np.diag_indices_from(gram)] += _RIDGE
        row[used] += np.linalg.solve(gram, moved @ row[used])
    return fitted


def distance(pairs: VectorPairs, beta: Float64Array, stored: Float64Array) -> Distance:
    """Return bounds on |W - V| and |V|.

    With c = beta + a: |W - V|^2 = beta^T H beta - 2 a^T F beta + a^T G a, in which nothing large
    cancels; what float64 rounds in elements and sums is added, relative to the sum of magnitudes.

    Parameters
    ----------
    pairs : VectorPairs
    beta, stored : ndarray of shape (n_decisions, n), float64
        Coefficients of the trained vectors and of the stored ones.
    """
    of_beta, of_stored = np.abs(beta).sum(axis=1), np.abs(stored).sum(axis=1)
    if pairs.far:
        return Distance((of_beta + of_stored) * (1 + 1e-9), of_stored * (1 + 1e-9))
    added = stored - beta
    total, size, square, length = (np.zeros(len(beta)) for _ in range(4))
    steepest = 0.0
    for block in pairs.blocks():
        part, kernel, moved, twice = block.part, block.kernel, block.moved, block.twice
        total += _form(added, kernel, added, part)
        size += _form(np.abs(added), kernel, np.abs(added), part)
        if block.steepest > 0:
            total += _form(beta, twice, beta, part) - 2 * _form(added, moved, beta, part)
            size += _form(np.abs(beta), np.abs(twice), np.abs(beta), part)
            size += 2 * _form(np.abs(added), np.abs(moved), np.abs(beta), part)
        square += _form(stored, kernel, stored, part)
        length += _form(np.abs(stored), kernel, np.abs(stored), part)
        steepest = max(steepest, block.steepest)
    relative, crossing, among = pairs.errors()
    relative += 4 * (beta.shape[1] + 8) * UNIT_ROUNDOFF_64
    of_added = np.abs(added).sum(axis=1)
    # Of elements of F by `crossing`, of H by twice that times `steepest` and by `among`.
    rest = 4 * crossing * of_added * of_beta + 4 * (crossing * steepest + among) * of_beta**2
    apart = np.sqrt(np.maximum(total, 0.0) + relative * size + rest)
    length = np.sqrt(np.maximum(square, 0.0) + relative * length)
    return Distance(apart * (1 + 1e-12), length * (1 + 1e-12))


def _form(left: Float64Array, rows: Float64Array, right: Float64Array, part: slice) -> Float64Array:
    """Return l^T M r of every decision from some rows of M."""
    form: Float64Array = (left[:, part] * (right @ rows.T)).sum(axis=1)
    return form
