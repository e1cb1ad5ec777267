"""Bounds on the distance of a machine with rounded vectors and coefficients from the trained one.

W = sum_i beta_i phi(s_i) is the trained machine in the rbf kernel's feature space and
V = sum_i c_i phi(S_i) the stored one. For the exactly prepared input x and the stored X, by
Cauchy-Schwarz and |phi| = 1,

    |<W, phi(x)> - <V, phi(X)>| <= |W - V| + |V| |phi(x) - phi(X)|,
    |phi(x) - phi(X)|^2 = 2 - 2 exp(-gamma |x - X|^2) <= 2 gamma |x - X|^2.

The bound depends on the query only by |x - X|. The errors of single vectors partly cancel in
|W - V|, and cancel more after the coefficients are fitted again to the stored vectors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kmcompile.lower.many_pairs import Moved
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

_BLOCK_VALUES = 1 << 22
_RIDGE = 1e-6
_MOST_REFITTED = 4000
"""Largest number of vectors of a decision that is fitted again: the time grows as its cube."""

MANY = 4096
"""Number of vectors above which their norms come from `kmcompile.lower.many_pairs`."""

_FUNCTIONS = 64 * UNIT_ROUNDOFF_64
"""Bound on the relative error of the functions and products in one element of G, F or H."""

_MOST_MOVED = 1.0
"""Largest gamma |s - S|^2 of a pair; beyond it the vectors hardly resemble each other."""


@dataclass(frozen=True, slots=True)
class Distance:
    """Upper bounds on norms in the feature space, for each decision.

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
        The rows of this block.
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
    """Pairs of a trained vector s and its stored vector S, with the rbf kernel.

    Parameters
    ----------
    gamma : float
    trained, stored : ndarray of shape (n, n_features), float64
    """

    gamma: float
    trained: Float64Array
    stored: Float64Array

    def chosen(self, rows: np.ndarray) -> VectorPairs:
        """Return the chosen pairs only."""
        return VectorPairs(self.gamma, self.trained[rows], self.stored[rows])

    @property
    def far(self) -> bool:
        """Whether some stored vector is too far from the trained one for any bound."""
        apart = ((self.trained - self.stored) ** 2).sum(axis=1)
        return bool(self.gamma * apart.max() > _MOST_MOVED)

    def blocks(self) -> Iterator[Block]:
        """Yield rows of G_ij = <phi(S_i), phi(S_j)>, F_ij = <phi(S_i), d_j>, H_ij = <d_i, d_j>.

        Here d = phi(s) - phi(S). Let D = S_i - S_j, e = s - S and z = gamma |D|^2. The squared
        distance is

        - |D|^2 - c / gamma for S_i and s_j, with c = gamma (2 <D, e_j> - |e_j|^2),
        - |D|^2 - r / gamma for s_i and S_j, with r = -gamma (2 <D, e_i> + |e_i|^2),
        - |D|^2 - (r + c + b) / gamma for s_i and s_j, with b = 2 gamma <e_i, e_j>.

        So F = exp(-z) (e^c - 1) and H = exp(-z) ((e^r - 1) (e^c - 1) + e^(r + c) (e^b - 1)). No
        kernel values are subtracted: e^c - 1 = +-(1 - e^-|c|) e^max(c, 0). Kernel values are at
        most 1, so that no exponent exceeds |b|, which is at most 2 unless the pairs are `far`.
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
        """Return the relative error of an element and the errors of its exponents.

        The error of an inner product of n terms is at most gamma_n times the product of the norms
        (Higham, Accuracy and Stability of Numerical Algorithms, eq. 3.5). That product is at most
        4 max |S|^2 for a squared distance of stored vectors, 4 max |S| max |e| + max |e|^2 for an
        exponent with <D, e>, and 2 max |e|^2 for an exponent with <e, e>.
        """
        unit = 2 * self.gamma * (self.stored.shape[1] + 4) * UNIT_ROUNDOFF_64
        longest = float(np.sqrt((self.stored**2).sum(axis=1)).max())
        moved = float(np.sqrt(((self.trained - self.stored) ** 2).sum(axis=1)).max())
        relative = _FUNCTIONS + 4 * unit * longest**2
        return relative, unit * (4 * longest + moved) * moved, 2 * unit * moved**2


def refitted(pairs: VectorPairs, beta: Float64Array) -> Float64Array:
    """Return coefficients of the stored vectors that make |W - V| small, shape (n_decisions, n).

    Parameters
    ----------
    pairs : VectorPairs
    beta : ndarray of shape (n_decisions, n), float64
        Coefficients of the trained vectors. A coefficient 0 stays 0.
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

    With c = beta + a: |W - V|^2 = beta^T H beta - 2 a^T F beta + a^T G a, in which no large terms
    cancel. A bound on the float64 rounding errors of elements and sums is added.

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
    if len(pairs.stored) > MANY:
        return _of_many(pairs, beta, added, stored)
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
    # Bounds on errors: of F by `crossing`, of H by `among` and twice `crossing` times `steepest`.
    rest = 4 * crossing * of_added * of_beta + 4 * (crossing * steepest + among) * of_beta**2
    apart = np.sqrt(np.maximum(total, 0.0) + relative * size + rest)
    length = np.sqrt(np.maximum(square, 0.0) + relative * length)
    return Distance(apart * (1 + 1e-12), length * (1 + 1e-12))


def _of_many(
    pairs: VectorPairs, beta: Float64Array, added: Float64Array, stored: Float64Array
) -> Distance:
    """Return bounds on |W - V| and |V| in which the errors of coefficients add up to the others."""
    apart, length = np.zeros(len(beta)), np.zeros(len(beta))
    for own, moved in Moved(pairs.gamma, pairs.trained, pairs.stored).groups():
        lengths = moved.length(np.concatenate([added[:, own], stored[:, own]]))
        apart += moved.apart(beta[:, own]) + lengths[: len(beta)]
        length += lengths[len(beta) :]
    return Distance(apart * (1 + 1e-12), length * (1 + 1e-12))


def _form(left: Float64Array, rows: Float64Array, right: Float64Array, part: slice) -> Float64Array:
    """Return l^T M r for each decision, from the given rows of M."""
    form: Float64Array = (left[:, part] * (right @ rows.T)).sum(axis=1)
    return form
