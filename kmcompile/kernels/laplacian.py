"""The Laplacian kernel, K(s, x) = exp(-gamma |s - x|_1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.kernels.exponential import ExponentialFloat32, ExponentialReach
from kmcompile.kernels.feature_sums import feature_sums
from kmcompile.kernels.float32 import KernelContext
from kmcompile.kernels.kernel import Kernel
from kmcompile.numeric.arrays import Float64Array, RealArray, magnitude


@dataclass(frozen=True, slots=True)
class Laplacian(Kernel):
    """K(s, x) = exp(-gamma |s - x|_1)."""

    gamma: float

    name: ClassVar[str] = "laplacian"
    formula: ClassVar[str] = "K(s, x) = exp(-gamma sum_j |s_j - x_j|)"
    self_value: ClassVar[float | None] = 1.0
    positive_definite: ClassVar[bool] = True
    has_reach: ClassVar[bool] = True

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return exp(-gamma |s_i - x_q|_1), shape (n_queries, n_sv)."""
        return np.exp(-self.gamma * feature_sums(support_vectors, X, lambda x, s: np.abs(x - s)))

    def lower(self, context: KernelContext) -> LaplacianFloat32:
        """Return the kernel as the C computes it; `LaplacianFloat32` derives the constants."""
        return LaplacianFloat32.of(self.gamma, context)

    def reach(self, context: KernelContext) -> ExponentialReach:
        """Return 1 and the largest error."""
        return ExponentialReach.of_kernel(self.lower(context))


@dataclass(frozen=True, slots=True, eq=False)
class LaplacianFloat32(ExponentialFloat32):
    """exp(-gamma |s - x|_1) in the C: a term is a difference, rounded once, of slope 1."""

    name: ClassVar[str] = "laplacian"
    sum_text: ClassVar[str] = "|s - x|_1"
    term_text: ClassVar[str] = "|s_j - x_j| moves by at most what s_j and x_j move"
    roundings: ClassVar[int] = 1
    underflows: ClassVar[int] = 2
    steepest: ClassVar[float] = 1.0

    def accumulate(self, total: RealArray, x: RealArray, s: RealArray) -> None:
        """Add |x - s| to the total."""
        total += magnitude(x - s)
