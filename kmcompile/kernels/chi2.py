"""The chi-squared kernel, K(s, x) = exp(-gamma sum_j (s_j - x_j)^2 / (s_j + x_j)), s, x >= 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.ir.arrays import Float64Array
from kmcompile.kernels.feature_sums import feature_sums
from kmcompile.kernels.kernel import Kernel


@dataclass(frozen=True, slots=True)
class Chi2(Kernel):
    """K(s, x) = exp(-gamma sum_j (s_j - x_j)^2 / (s_j + x_j)), s, x >= 0."""

    gamma: float

    name: ClassVar[str] = "chi2"
    requires_nonnegative: ClassVar[bool] = True

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return exp(-gamma sum_j (s_j - x_j)^2 / (s_j + x_j)), shape (n_queries, n_sv).

        A feature that is 0 in both adds nothing. Where a feature of an input is negative the value
        is meaningless: such inputs are refused.
        """
        return np.exp(-self.gamma * feature_sums(support_vectors, X, _term))

    @property
    def positive_definite(self) -> bool:
        """For features that are 0 or more."""
        return True

    def parameters(self) -> dict[str, float]:
        """Return gamma."""
        return {"gamma": self.gamma}


def _term(x: Float64Array, s: Float64Array) -> Float64Array:
    total = x + s
    term: Float64Array = (x - s) ** 2 / np.where(total == 0, 1.0, total)
    return term
