"""The polynomial kernel, K(s, x) = (gamma <s, x> + coef0)^degree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kmcompile.ir.arrays import Float64Array
from kmcompile.kernels.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Poly(Kernel):
    """K(s, x) = (gamma <s, x> + coef0)^degree with an integer degree."""

    gamma: float
    coef0: float
    degree: int

    name: ClassVar[str] = "poly"

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return (gamma <s_i, x_q> + coef0)^degree, shape (n_queries, n_sv)."""
        inner: Float64Array = self.gamma * (X @ support_vectors.T) + self.coef0
        return inner**self.degree

    @property
    def positive_definite(self) -> bool:
        """With gamma > 0 and coef0 >= 0."""
        return self.gamma > 0 and self.coef0 >= 0

    def parameters(self) -> dict[str, float]:
        """Return gamma, coef0 and degree."""
        return {"gamma": self.gamma, "coef0": self.coef0, "degree": self.degree}
