"""The radial basis function kernel, K(s, x) = exp(-gamma |s - x|^2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.ir.arrays import Float64Array
from kmcompile.kernels.kernel import Kernel

_BLOCK_BYTES = 1 << 21


@dataclass(frozen=True, slots=True)
class Rbf(Kernel):
    """K(s, x) = exp(-gamma |s - x|^2) with gamma > 0."""

    gamma: float

    name: ClassVar[str] = "rbf"

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return exp(-gamma |s_i - x_q|^2), shape (n_queries, n_sv).

        The squared distance is summed from differences: the expanded form
        |s|^2 - 2<s, x> + |x|^2 cancels where data lie far from the origin.
        """
        n_queries, n_sv = len(X), len(support_vectors)
        result = np.zeros((n_queries, n_sv))
        columns = np.ascontiguousarray(support_vectors.T)
        rows = max(1, _BLOCK_BYTES // (8 * max(1, n_sv)))
        for start in range(0, n_queries, rows):
            block = result[start : start + rows]
            difference = np.empty_like(block)
            for x, s in zip(X[start : start + rows].T, columns, strict=True):
                np.subtract(x[:, None], s[None, :], out=difference)
                np.multiply(difference, difference, out=difference)
                block += difference
        return np.exp(-self.gamma * result)

    @property
    def positive_definite(self) -> bool:
        """Always."""
        return True

    def parameters(self) -> dict[str, float]:
        """Return gamma."""
        return {"gamma": self.gamma}
