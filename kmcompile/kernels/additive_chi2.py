"""The additive chi-squared kernel, K(s, x) = -sum_j (s_j - x_j)^2 / (s_j + x_j), s, x >= 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.kernels.additive import AdditiveFloat32
from kmcompile.kernels.chi2 import DISTANCE, Chi2Float32, add_chi2_terms, chi2_term
from kmcompile.kernels.feature_sums import feature_sums
from kmcompile.kernels.float32 import KernelContext
from kmcompile.kernels.kernel import Additive, Kernel
from kmcompile.numeric.arrays import Float64Array, RealArray, RealBound


@dataclass(frozen=True, slots=True)
class AdditiveChi2(Kernel):
    """K(s, x) = -sum_j (s_j - x_j)^2 / (s_j + x_j), s, x >= 0; of two zeros a term is 0."""

    name: ClassVar[str] = "additive_chi2"
    formula: ClassVar[str] = f"K(s, x) = -D, D = {DISTANCE}"
    positive_definite: ClassVar[bool] = False  # K(s, s) = 0; it is so conditionally
    additive: ClassVar[Additive] = Additive.CURVES
    uses_length: ClassVar[bool] = True  # the sum of the features' functions does
    requires_nonnegative: ClassVar[bool] = True

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return -sum_j (s_j - x_j)^2 / (s_j + x_j), shape (n_queries, n_sv).

        A negative feature of an input counts as 0, as with `Chi2`.
        """
        return -feature_sums(support_vectors, np.maximum(X, 0.0), chi2_term)

    def lower(self, context: KernelContext) -> AdditiveChi2Float32:
        """Return the kernel as the C computes it; `AdditiveChi2Float32` derives the constants."""
        precision, n = context.precision, context.n_features
        g = precision.gamma_factor(Chi2Float32.roundings + n)
        per_deviation = Chi2Float32.steepest * np.sqrt(n)
        underflow = 2 * Chi2Float32.underflows * n * precision.smallest_normal
        minimum = per_deviation * context.vector_error + underflow
        return AdditiveChi2Float32(
            per_deviation=precision.bound_constant(per_deviation),
            minimum=precision.bound_constant(minimum),
            value_error=precision.bound_constant(g / (1 - g) + context.sum_error),
        )


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveChi2Float32(AdditiveFloat32):
    """-D, D = sum_j (s_j - x_j)^2 / (s_j + x_j), as the C computes it, with its error.

    With s^, x^ as stored, e >= |s - s^|, delta >= |x - x^| and n features (`Chi2Float32` has the
    roundings of a term, its underflows and how far it moves):

    - no term is negative, so that the computed sum is D(s^, x^) (1 + theta), |theta| <= g =
      gamma_(5 + n) (Higham, Lemma 3.1), but for underflows: it is off by at most g / (1 - g) times
      itself, which `value_error` contains;
    - |D(s, x) - D(s^, x^)| <= 3 sum_j (|s_j - s^_j| + |x_j - x^_j|) <= 3 sqrt(n) (e + delta).

    Parameters
    ----------
    per_deviation, minimum : float32 or float64
        The error of the sum that is not relative to it is at most per_deviation delta + minimum.
    value_error : float32 or float64
        Error of the sum, of the coefficient and of the weighted sum, relative to the value.
    """

    per_deviation: RealBound
    minimum: RealBound
    value_error: RealBound

    name: ClassVar[str] = "additive_chi2"
    sum_text: ClassVar[str] = Chi2Float32.sum_text
    term_operations: ClassVar[int] = Chi2Float32.term_operations

    def accumulate(self, total: RealArray, x: RealArray, s: RealArray) -> None:
        """Add (x - s) ((x - s) / (x + s)) to the total; two zeros add nothing."""
        add_chi2_terms(total, x, s)

    def value(self, total: RealArray) -> RealArray:
        """Return minus the total, which is the kernel's value."""
        return -total
