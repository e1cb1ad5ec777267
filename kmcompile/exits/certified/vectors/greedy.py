"""Greedy choice of support vectors: matching pursuit on the hyperplanes' normals."""

from __future__ import annotations

import numpy as np

from kmcompile.exits.certified.vectors.span import LEAST_PIVOT, Span
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.reduction.growing import relative_weights


class Pursuit:
    """Matching pursuit with back-fitting over the support vectors (RSS 2004, section 3.2).

    The pursuit keeps the span of the vectors taken so far. For every support vector s_j it keeps
    the coordinates q_tj, the remaining square d_j = K(s_j, s_j) - sum_t q_tj^2, and c_jp = <W_p -
    proj W_p, phi(s_j)>. Taking s_j and fitting all weights again reduces |W_p - proj W_p|^2 by
    c_jp^2 / d_j. A step costs one column of kernels and n_sv t multiply-adds.

    Attributes
    ----------
    span : Span
    relative : ndarray of shape (n_decisions,), float64
        1 / |W_p|^2, so that every decision counts alike.
    """

    def __init__(self, normals: Normals, n: int) -> None:
        self.span = Span.empty(normals)
        self.relative = relative_weights(normals)
        self._rows = np.zeros((n, len(normals.vectors)))
        self._squares = normals.kernel.self_values(normals.vectors)
        self._left = self._squares.copy()
        self._products = normals.products.copy()

    def gains(self) -> Float64Array:
        """Return how much each vector reduces sum_p |W_p - proj W_p|^2 / |W_p|^2, shape (n_sv,)."""
        usable = self._left > LEAST_PIVOT * self._squares
        gains = (self._products**2) @ self.relative / np.where(usable, self._left, 1.0)
        return np.where(usable, gains, 0.0)

    def add(self, z: Float64Array) -> None:
        """Add a vector of shape (n_features,) to the span: a support vector or any other."""
        t, normals = len(self.span), self.span.normals
        q = self.span.coordinates(z[None])[0]
        self.span = self.span.extended(z)
        column, _ = normals.kernel.fast_values(z[None], normals.vectors)
        row = (column[:, 0] - q @ self._rows[:t]) * self.span.triangle[t, t]
        self._rows[t] = row
        self._left -= row * row
        self._products -= row[:, None] * self.span.weights[t]


def greedy_vectors(normals: Normals, n: int) -> Float64Array:
    """Return at most n support vectors; each reduces the residual most, given those before.

    There are fewer if every other vector lies nearly in the span of these.
    """
    pursuit = Pursuit(normals, n)
    for _ in range(n):
        gains = pursuit.gains()
        best = int(gains.argmax())
        if gains[best] <= 0:
            break
        pursuit.add(normals.vectors[best])
    return pursuit.span.vectors
