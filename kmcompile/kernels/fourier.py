"""Random Fourier features, K(s, x) = cos(<s, x>)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.ir.arrays import Float64Array
from kmcompile.kernels.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Fourier(Kernel):
    """K(s, x) = cos(<s, x>)."""

    name: ClassVar[str] = "fourier"

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return cos(<s_i, x_q>), shape (n_queries, n_sv)."""
        return np.cos(X @ support_vectors.T)

    @property
    def positive_definite(self) -> bool:
        """Always: it is what scikit-learn's RBFSampler sums, the phase being one more feature."""
        return True

    def parameters(self) -> dict[str, float]:
        """Return no parameter."""
        return {}
