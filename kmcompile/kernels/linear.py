"""The linear kernel, K(s, x) = <s, x>."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.kernels.float32 import Float32Kernel, KernelContext
from kmcompile.kernels.kernel import Kernel, KernelSum
from kmcompile.numeric.arrays import Float64Array


@dataclass(frozen=True, slots=True)
class Linear(Kernel):
    """K(s, x) = <s, x>."""

    name: ClassVar[str] = "linear"
    formula: ClassVar[str] = "K(s, x) = sum_j s_j x_j"
    positive_definite: ClassVar[bool] = True
    of_inner_product: ClassVar[bool] = True
    fits_image: ClassVar[bool] = True
    is_linear: ClassVar[bool] = True
    has_gradient: ClassVar[bool] = True
    uses_length: ClassVar[bool] = True
    no_early_exits: ClassVar[str] = (
        "a linear machine is one inner product a decision, which no early exit makes cheaper"
    )

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return <s_i, x_q>, shape (n_queries, n_sv)."""
        return X @ support_vectors.T

    def lower(self, context: KernelContext) -> Float32Kernel:
        """Raise NotImplementedError: `kmcompile.passes.sum_linear` makes weights instead."""
        raise NotImplementedError("the linear kernel has no float32 image of its own")

    def gradient(self, Z: Float64Array, X: Float64Array, C: Float64Array) -> Float64Array:
        """Return dK/dz = x, weighted."""
        return C @ X

    def sums_nonzeros(self, support_vectors: Float64Array) -> bool:
        """Return False: a linear machine has no sum over vectors."""
        return False

    def likely_points(self, of: KernelSum, rng: np.random.Generator) -> Float64Array:
        """Return points on both sides of the hyperplanes, some far and some near."""
        weights = of.coefficients() @ of.vectors
        square = (weights**2).sum(axis=1, keepdims=True)
        feet = -of.intercept[:, None] * weights / np.where(square == 0, 1.0, square)
        size = np.sqrt((feet**2).sum(axis=1).mean() / feet.shape[1]) + 1.0
        chosen = feet[rng.integers(len(feet), size=256)]
        spread = 10.0 ** rng.uniform(-2, 1, size=(256, 1))
        points: Float64Array = chosen + rng.standard_normal(chosen.shape) * size * spread
        return points
