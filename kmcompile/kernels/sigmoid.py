"""The sigmoid kernel, K(s, x) = tanh(gamma <s, x> + coef0)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.ir.arrays import Float64Array
from kmcompile.kernels.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Sigmoid(Kernel):
    """K(s, x) = tanh(gamma <s, x> + coef0)."""

    gamma: float
    coef0: float

    name: ClassVar[str] = "sigmoid"

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return tanh(gamma <s_i, x_q> + coef0), shape (n_queries, n_sv)."""
        return np.tanh(self.gamma * (X @ support_vectors.T) + self.coef0)

    @property
    def positive_definite(self) -> bool:
        """Not in general, so never assumed."""
        return False

    def parameters(self) -> dict[str, float]:
        """Return gamma and coef0."""
        return {"gamma": self.gamma, "coef0": self.coef0}
