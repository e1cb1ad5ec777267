"""The histogram intersection kernel, K(s, x) = sum_j min(s_j, x_j)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.kernels.additive import AdditiveFloat32
from kmcompile.kernels.feature_sums import feature_sums
from kmcompile.kernels.float32 import KernelContext, Magnitudes
from kmcompile.kernels.kernel import Additive, Kernel
from kmcompile.numeric.arrays import Float64Array, RealArray, RealBound
from kmcompile.numeric.batch import Batch


@dataclass(frozen=True, slots=True)
class Intersection(Kernel):
    """K(s, x) = sum_j min(s_j, x_j)."""

    name: ClassVar[str] = "intersection"
    formula: ClassVar[str] = "K(s, x) = sum_j min(s_j, x_j)"
    positive_definite: ClassVar[bool] = False  # K(s, s) < 0 for allowed negative features
    additive: ClassVar[Additive] = Additive.LINES
    homogeneous: ClassVar[bool] = True
    uses_length: ClassVar[bool] = True

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return sum_j min(s_ij, x_qj), shape (n_queries, n_sv)."""
        return feature_sums(support_vectors, X, np.minimum)

    def lower(self, context: KernelContext) -> IntersectionFloat32:
        """Return the kernel as the C computes it; `IntersectionFloat32` derives the constants."""
        precision = context.precision
        root = np.sqrt(context.n_features)
        g = precision.gamma_factor(context.n_features)
        rest = g * context.vector_length + context.vector_error
        underflow = 2 * context.n_features * precision.smallest_normal
        return IntersectionFloat32(
            per_length=precision.bound_constant(g * root),
            per_deviation=precision.bound_constant(root),
            minimum=precision.bound_constant(rest * root + underflow),
            value_error=precision.bound_constant(context.sum_error),
        )


@dataclass(frozen=True, slots=True, eq=False)
class IntersectionFloat32(AdditiveFloat32):
    """sum_j min(s_j, x_j) as the C computes it, with its error.

    With s^, x^ as stored, S >= |s^|, e >= |s - s^|, delta >= |x - x^|, X >= |x^| and n features:

    - a minimum is exact, and the sum of n of them in any order is off by at most
      gamma_n sum_j |min(s^_j, x^_j)| <= gamma_n sum_j max(|s^_j|, |x^_j|)
      <= gamma_n sqrt(n) (S + X) (Higham, eq. 4.4);
    - a minimum moves by at most what its two numbers move, so that in exact arithmetic the sum
      moves by at most sqrt(n) (e + delta).

    Parameters
    ----------
    per_length, per_deviation, minimum : float32 or float64
        The error of the sum is at most per_length X + per_deviation delta + minimum.
    value_error : float32 or float64
        Error of the coefficient and the weighted sum, relative to the value.
    """

    per_length: RealBound
    per_deviation: RealBound
    minimum: RealBound
    value_error: RealBound

    name: ClassVar[str] = "intersection"
    sum_text: ClassVar[str] = "sum_j min(s_j, x_j)"

    def accumulate(self, total: RealArray, x: RealArray, s: RealArray) -> None:
        """Add min(x, s) to the total."""
        total += np.where(x < s, x, s)

    def sum_error(self, batch: Batch) -> RealArray:
        """Return the error of a sum."""
        return self.per_length * batch.length + self.per_deviation * batch.deviation + self.minimum

    def value(self, total: RealArray) -> RealArray:
        """Return the total, which is the kernel's value."""
        return total

    def largest_sum_error(self, of: Magnitudes) -> float:
        """Return a bound on the error of a sum."""
        return (
            float(self.per_length) * of.length
            + float(self.per_deviation) * of.deviation
            + float(self.minimum)
        )
