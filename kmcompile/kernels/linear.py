"""The linear kernel, K(s, x) = <s, x>."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kmcompile.kernels.kernel import Kernel
from kmcompile.numeric.arrays import Float64Array


@dataclass(frozen=True, slots=True)
class Linear(Kernel):
    """K(s, x) = <s, x>."""

    name: ClassVar[str] = "linear"
    uses_length: ClassVar[bool] = True

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return <s_i, x_q>, shape (n_queries, n_sv)."""
        return X @ support_vectors.T

    @property
    def positive_definite(self) -> bool:
        """Always."""
        return True

    def parameters(self) -> dict[str, float]:
        """Return no parameter."""
        return {}
