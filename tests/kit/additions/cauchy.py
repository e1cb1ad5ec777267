"""A kernel from outside the package, K(s, x) = 1 / (1 + gamma |s - x|^2)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from kmcompile.kernels import Kernel
from kmcompile.kernels.float32 import Float32Kernel, KernelContext, Magnitudes, QueryTerms
from kmcompile.numeric.arrays import Float64Array, Real, RealArray
from kmcompile.numeric.batch import Batch

STEEPEST = 3 * np.sqrt(3) / 8
"""The largest slope of 1 / (1 + r^2), at r = 1 / sqrt(3)."""


@dataclass(frozen=True, slots=True)
class Cauchy(Kernel):
    """K(s, x) = 1 / (1 + gamma |s - x|^2), gamma > 0: the rational quadratic with exponent 1."""

    gamma: float

    name: ClassVar[str] = "cauchy"
    of_distance: ClassVar[bool] = True

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return 1 / (1 + gamma |s_i - x_q|^2), shape (n_queries, n_sv)."""
        difference = X[:, None] - support_vectors[None]
        return 1.0 / (1.0 + self.gamma * (difference**2).sum(axis=2))

    @property
    def positive_definite(self) -> bool:
        """Whether K is positive definite: always, as a mixture of rbf kernels."""
        return True

    def lower(self, context: KernelContext) -> CauchyFloat32:
        """Return the kernel as the C computes it; `CauchyFloat32` derives the constants."""
        precision, n = context.precision, context.n_features
        steepest = STEEPEST * np.sqrt(self.gamma) * (1 + 1e-9)
        underflow = (self.gamma * 2 * n + 3) * precision.smallest_normal
        return CauchyFloat32(
            gamma=precision.stored_factor("gamma", self.gamma),
            vector_error=precision.bound_constant(context.vector_error),
            slope=precision.bound_constant(steepest),
            minimum=precision.bound_constant(underflow),
            value_error=precision.bound_constant(precision.gamma_factor(n + 6) + context.sum_error),
        )


@dataclass(frozen=True, slots=True, eq=False)
class CauchyFloat32(Float32Kernel):
    """1 / (1 + gamma |s - x|^2) as the C computes it, with its error.

    With s^, x^ as stored, D = |s^ - x^| and e >= |s - s^| + |x - x^|:

    - Differences (twice, being squared), product, n - 1 additions, the stored gamma and the last
      product: z^ = gamma D^2 (1 + theta), |theta| <= gamma_(n + 4) (Higham, Lemma 3.1).
    - 1 + z^ = (1 + z) (1 + theta z / (1 + z)), whose second factor is within gamma_(n + 4) of 1;
      the addition and the quotient round once each: 1 / (1 + gamma D^2) = k^ (1 + theta'),
      |theta'| <= gamma_(n + 6) (Higham, Lemma 3.3).
    - 1 / (1 + r^2), r = sqrt(gamma) |s - x|, has a slope of at most 3 sqrt(3) / 8, and r moves by
      at most sqrt(gamma) e: k moves by at most `slope` e.
    - Each of the 2 n operations that can underflow costs D^2 at most 2^-126, the product with
      gamma costs z as much, and k has a slope of at most 1 in z.
    """

    gamma: Real
    vector_error: Real
    slope: Real
    minimum: Real
    value_error: Real

    name: ClassVar[str] = "cauchy"
    uses_distance: ClassVar[bool] = True
    term_operations: ClassVar[int] = 2
    finish_operations: ClassVar[int] = 12
    value_operations: ClassVar[int] = 10
    value_bound: ClassVar[float] = 1.0

    def accumulate(self, total: RealArray, x: RealArray, s: RealArray) -> None:
        """Add (x - s)^2 to the total."""
        difference = x - s
        total += difference * difference

    def query_terms(self, batch: Batch) -> QueryTerms:
        """Return a bound on how far the input's deviation moves a value."""
        moved = self.slope * (batch.deviation + self.vector_error) + self.minimum
        return QueryTerms((moved[:, None],), np.ones(len(moved), dtype=bool))

    def value(self, total: RealArray) -> RealArray:
        """Return 1 / (1 + gamma total)."""
        one = self.precision.dtype(1.0)
        value: RealArray = one / (one + self.gamma * total)
        return value

    def finish(self, total: RealArray, terms: QueryTerms) -> tuple[RealArray, RealArray]:
        """Return the values and their errors."""
        value = self.value(total)
        return value, terms.values[0] + value * self.value_error

    @property
    def absolute_error(self) -> float:
        """Return the underflow of an error."""
        return 4 * self.precision.smallest_normal

    def largest_value(self, of: Magnitudes) -> float:
        """Return a bound on the error; the value itself is at most 1."""
        spread = of.deviation + float(self.vector_error)
        return 2.0 + float(self.slope) * spread + float(self.minimum)

    def largest_intermediate(self, of: Magnitudes) -> float:
        """Return a bound on 1 + z^ and on the squared distance."""
        return 1.0 + max(1.0, float(self.gamma)) * of.distance_squared

    def scalars(self) -> tuple[tuple[str, Any], ...]:
        """Return no scalar functions."""
        return ()
