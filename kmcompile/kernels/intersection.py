"""The histogram intersection kernel, K(s, x) = sum_j min(s_j, x_j)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.ir.arrays import Float64Array
from kmcompile.kernels.feature_sums import feature_sums
from kmcompile.kernels.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Intersection(Kernel):
    """K(s, x) = sum_j min(s_j, x_j)."""

    name: ClassVar[str] = "intersection"

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return sum_j min(s_ij, x_qj), shape (n_queries, n_sv)."""
        return feature_sums(support_vectors, X, np.minimum)

    @property
    def positive_definite(self) -> bool:
        """For features that are 0 or more."""
        return True

    def parameters(self) -> dict[str, float]:
        """Return no parameter."""
        return {}
