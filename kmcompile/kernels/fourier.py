"""Random Fourier features, K(s, x) = cos(<s, x>)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kmcompile.kernels.float32 import KernelContext, Magnitudes, QueryTerms
from kmcompile.kernels.inner_product import InnerProductFloat32, inner_product_error
from kmcompile.kernels.kernel import Kernel, KernelSum
from kmcompile.numeric.arrays import Float64Array, RealArray, RealBound, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import LARGEST_INTERMEDIATE
from kmcompile.numeric.scalar.functions import COSINE, ScalarFunction


@dataclass(frozen=True, slots=True)
class Fourier(Kernel):
    """K(s, x) = cos(<s, x>): a term of scikit-learn's RBFSampler; the phase is a feature of s."""

    name: ClassVar[str] = "fourier"
    formula: ClassVar[str] = "K(s, x) = cos(sum_j s_j x_j)"
    positive_definite: ClassVar[bool] = False  # K(s, s) is -1 where |s|^2 = pi
    of_inner_product: ClassVar[bool] = True
    uses_length: ClassVar[bool] = True
    no_early_exits: ClassVar[str] = "there is no early exit for the fourier kernel"

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return cos(<s_i, x_q>), shape (n_queries, n_sv)."""
        return np.cos(X @ support_vectors.T)

    def lower(self, context: KernelContext) -> FourierFloat32:
        """Return the kernel as the C computes it; `FourierFloat32` derives the constants."""
        per_length, per_deviation, minimum = inner_product_error(1.0, 0.0, context)
        precision = context.precision
        return FourierFloat32(
            per_length=per_length,
            per_deviation=per_deviation,
            minimum=minimum,
            function_error=precision.bound_constant(COSINE[precision.dtype].absolute_error),
            value_error=precision.bound_constant(context.sum_error),
        )

    def likely_points(self, of: KernelSum, rng: np.random.Generator) -> Float64Array:
        """Return points as large as the data for which the cosines approximate an rbf kernel.

        The rows w of RBFSampler have variance 2 gamma in each feature. For a well chosen gamma,
        gamma |x - y|^2 of the data is about 1. The points w n / |w|^2, with n features, have about
        1 / (2 gamma) in each feature. The phase, a constant feature of its own, takes no part.
        """
        n_own = of.vectors.shape[1] - of.n_constant
        square = (of.vectors[:, :n_own] ** 2).sum(axis=1, keepdims=True)
        points: Float64Array = of.vectors * (n_own / np.where(square == 0, 1.0, square))
        return points


@dataclass(frozen=True, slots=True, eq=False)
class FourierFloat32(InnerProductFloat32):
    """cos(v) with v = <s, x> as the C computes it, with its error.

    With |v - v^| <= r (`inner_product_error`, gamma = 1 and coef0 = 0) and tau the error of our
    cosine, whose slope is at most 1: |k - k^| <= r + tau. Our cosine is valid up to 2^14: inputs
    for which |v^| could be larger are refused.
    """

    per_length: RealBound
    per_deviation: RealBound
    minimum: RealBound
    function_error: RealBound
    value_error: RealBound

    name: ClassVar[str] = "fourier"
    finish_operations: ClassVar[int] = 18
    value_operations: ClassVar[int] = 16
    value_bound: ClassVar[float] = 1.0

    @property
    def _cosine(self) -> ScalarFunction:
        return COSINE[self.precision.dtype]

    def query_terms(self, batch: Batch) -> QueryTerms:
        """Return r + tau, rounded up."""
        r = self.argument_error(batch.length, batch.deviation)
        return QueryTerms(((r + self.function_error)[:, None],), np.ones(len(r), dtype=bool))

    def value(self, total: RealArray) -> RealArray:
        """Return cos(total)."""
        value: RealArray = self._cosine.of(total)
        return value

    def finish(self, total: RealArray, terms: QueryTerms) -> tuple[RealArray, RealArray]:
        """Return cos(total) and its error."""
        value = self.value(total)
        return value, terms.values[0] + magnitude(value) * self.value_error

    @property
    def absolute_error(self) -> float:
        """Return the underflow of an error."""
        return 4 * self.precision.smallest_normal

    def largest_value(self, of: Magnitudes) -> float:
        """Return a bound on the error; the value itself is at most 1."""
        return 2.0 + self.largest_argument_error(of)

    def largest_intermediate(self, of: Magnitudes) -> float:
        """Return a bound on |v^|, scaled so that the range analysis enforces the cosine's limit.

        The range analysis compares 4 times this bound with the largest intermediate
        (`kmcompile.lower.ranges`).
        """
        v = of.inner + self.largest_argument_error(of)
        return v * (LARGEST_INTERMEDIATE / (4 * float(self._cosine.limit)))

    def scalars(self) -> tuple[tuple[str, Any], ...]:
        """Return the cosine, the only scalar function that the C calls."""
        return ((self._cosine.template, self._cosine.view),)
