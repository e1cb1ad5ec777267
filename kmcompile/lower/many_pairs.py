"""Bounds on the distance of a machine of many rounded vectors from the trained one.

With m_i in the middle of s_i and S_i, and e_i = s_i - S_i,

    phi(s_i) - phi(S_i) = d_i + r_i,   d_i = D phi(m_i) e_i,   |r_i| <= 0.457 (gamma |e_i|^2)^(3/2).

For g(t) = phi(m + t e / 2) has g(1) - g(-1) = 2 g'(0) + r with |r| <= max |g'''| / 3 and
|g'''|^2 = |H_6(0)| (gamma |e|^2 / 4)^3 = 120 (gamma |e|^2 / 4)^3. With D = m_i - m_j,

    <d_i, d_j> = exp(-gamma |D|^2) (2 gamma <e_i, e_j> - 4 gamma^2 <D, e_i> <D, e_j>),

so that each pair takes one exponential in the place of six. The vectors are parted into groups: a
norm is at most the sum of the groups' norms, and the pairs grow with the number of vectors, not
with its square. Each group has one vector of so many, so that the groups are alike.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

MOST_TOGETHER = 1 << 12
"""Most vectors of a group."""

_BLOCK_VALUES = 1 << 18
_REST = 0.457


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """Some vectors s with their stored vectors S, and the rbf kernel.

    Parameters
    ----------
    gamma : float
    trained, stored : ndarray of shape (n, n_features), float64
    """

    gamma: float
    trained: Float64Array
    stored: Float64Array

    def groups(self) -> Iterator[tuple[slice, Moved]]:
        """Yield the vectors of each group."""
        n_groups = n_groups_of(len(self.stored))
        for first in range(n_groups):
            own = slice(first, None, n_groups)
            yield own, Moved(self.gamma, self.trained[own], self.stored[own])

    def apart(self, beta: Float64Array) -> Float64Array:
        """Return bounds on |sum_i beta_i (phi(s_i) - phi(S_i))| for each row of beta."""
        e = self.trained - self.stored
        middle, gamma = self.stored + e / 2, self.gamma
        squares = (e**2).sum(axis=1)
        weights = np.abs(beta)
        if not squares.any():
            return np.zeros(len(beta))
        own = (middle * e).sum(axis=1)
        total = np.zeros(len(beta))
        for part, rest, kernel in self._kernels(middle):
            along = own[part, None] - e[part] @ middle[rest].T
            across = middle[part] @ e[rest].T - own[rest]
            products = e[part] @ e[rest].T
            products -= 2 * gamma * along * across
            total += _form(beta, kernel * products, part, rest)
        longest, widest = (middle**2).sum(axis=1).max(), squares.max()
        most = 2 * gamma * widest * (1 + 8 * gamma * longest)
        error = 2 * most * (self._relative(longest) + 16 * (e.shape[1] + 8) * UNIT_ROUNDOFF_64)
        first = np.sqrt(np.maximum(2 * gamma * total, 0.0) + error * weights.sum(axis=1) ** 2)
        bound: Float64Array = first + _REST * (weights @ (gamma * squares) ** 1.5)
        return bound * (1 + 1e-12)

    def length(self, rows: Float64Array) -> Float64Array:
        """Return bounds on |sum_i c_i phi(S_i)| for each row c."""
        total = np.zeros(len(rows))
        for part, rest, kernel in self._kernels(self.stored):
            total += _form(rows, kernel, part, rest)
        longest = (self.stored**2).sum(axis=1).max()
        error = 2 * self._relative(longest) * np.abs(rows).sum(axis=1) ** 2
        bound: Float64Array = np.sqrt(np.maximum(total, 0.0) + error) * (1 + 1e-12)
        return bound

    def _kernels(self, x: Float64Array) -> Iterator[tuple[slice, slice, Float64Array]]:
        """Yield kernels of some vectors with these and all later ones."""
        squares = (x**2).sum(axis=1)
        rows = max(1, _BLOCK_VALUES // len(x))
        for start in range(0, len(x), rows):
            part, rest = slice(start, start + rows), slice(start, None)
            values = x[part] @ x[rest].T
            values *= -2
            values += squares[rest]
            values += squares[part, None]
            np.maximum(values, 0.0, out=values)
            values *= -self.gamma
            yield part, rest, np.exp(values, out=values)

    def _relative(self, longest: float) -> float:
        """Return the rounding of a form of kernels, as a share of the product of the weights' sums.

        A square of a distance is off by at most 8 (n + 8) u times the longest square, and a sum of
        2 n terms by twice as many u.
        """
        n, n_features = self.stored.shape
        of_kernel = 8 * self.gamma * (n_features + 8) * float(longest) + 16
        return float(of_kernel + 4 * n + 16) * UNIT_ROUNDOFF_64


def n_groups_of(n_vectors: int) -> int:
    """Return into how many groups vectors are parted."""
    return -(-n_vectors // MOST_TOGETHER)


def _form(rows: Float64Array, values: Float64Array, part: slice, rest: slice) -> Float64Array:
    """Return c^T M c for each row c, from some rows of a symmetric M and the columns behind."""
    n = len(values)
    right = rows[:, rest].copy()
    right[:, n:] *= 2
    form: Float64Array = ((right @ values.T) * rows[:, part]).sum(axis=1)
    return form
