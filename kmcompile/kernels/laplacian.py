"""The Laplacian kernel, K(s, x) = exp(-gamma |s - x|_1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.ir.arrays import Float64Array
from kmcompile.kernels.feature_sums import feature_sums
from kmcompile.kernels.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Laplacian(Kernel):
    """K(s, x) = exp(-gamma |s - x|_1)."""

    gamma: float

    name: ClassVar[str] = "laplacian"

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return exp(-gamma |s_i - x_q|_1), shape (n_queries, n_sv)."""
        return np.exp(-self.gamma * feature_sums(support_vectors, X, lambda x, s: np.abs(x - s)))

    @property
    def positive_definite(self) -> bool:
        """Always."""
        return True

    def parameters(self) -> dict[str, float]:
        """Return gamma."""
        return {"gamma": self.gamma}
