"""The span of phi(z_1), ..., phi(z_k): orthonormal coordinates of points and of normals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array

LEAST_PIVOT = 1e-5
"""Least share of |phi(z)|^2 outside the span of the earlier vectors. Below it, L^-1 of the Gram
matrix magnifies the rounding of kernel values beyond what the vector adds."""


@dataclass(frozen=True, slots=True, eq=False)
class Span:
    """An orthonormal basis e_1, ..., e_k, built up one vector at a time.

    Parameters
    ----------
    normals : Normals
    vectors : ndarray of shape (k, n_features), float64
        z_1, ..., z_k.
    triangle : ndarray of shape (k, k), float64
        L^-1 of the Gram matrix G = L L': e_t = sum_j triangle_tj phi(z_j).
    weights : ndarray of shape (k, n_decisions), float64
        <e_t, W_p>.
    """

    normals: Normals
    vectors: Float64Array
    triangle: Float64Array
    weights: Float64Array

    @classmethod
    def empty(cls, normals: Normals) -> Span:
        """Return the span of no vectors."""
        n_features, n_decisions = normals.vectors.shape[1], len(normals.squares)
        return cls(normals, np.zeros((0, n_features)), np.zeros((0, 0)), np.zeros((0, n_decisions)))

    def __len__(self) -> int:
        return len(self.vectors)

    def coordinates(self, X: Float64Array) -> Float64Array:
        """Return the coordinates <e_t, phi(x)> of each row of X, shape (n_queries, k)."""
        if not len(self):
            return np.zeros((len(X), 0))
        coordinates: Float64Array = self.normals.kernel.values(self.vectors, X) @ self.triangle.T
        return coordinates

    def pivot(self, z: Float64Array) -> float:
        """Return the share of |phi(z)|^2 outside the span; 0 if phi(z) = 0."""
        square = float(self.normals.kernel.self_values(z[None])[0])
        q = self.coordinates(z[None])[0]
        return max(0.0, 1.0 - float(q @ q) / square) if square > 0 else 0.0

    def extended(self, z: Float64Array) -> Span:
        """Return the span with one more vector z, shape (n_features,), whose pivot is not 0."""
        k = len(self)
        q = self.coordinates(z[None])[0]
        length = np.sqrt(self.normals.kernel.self_values(z[None])[0] - q @ q)
        triangle = np.zeros((k + 1, k + 1))
        triangle[:k, :k] = self.triangle
        triangle[k] = np.append(-(q @ self.triangle), 1.0) / length
        new = (self.normals.product(z[None]) - q @ self.weights) / length
        return Span(
            self.normals,
            np.vstack([self.vectors, z]),
            triangle,
            np.vstack([self.weights, new]),
        )
