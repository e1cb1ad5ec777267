"""The chi-squared kernel, K(s, x) = exp(-gamma sum_j (s_j - x_j)^2 / (s_j + x_j)), s, x >= 0."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.kernels.exponential import ExponentialFloat32, ExponentialReach
from kmcompile.kernels.feature_sums import feature_sums
from kmcompile.kernels.float32 import KernelContext
from kmcompile.kernels.kernel import Kernel
from kmcompile.numeric.arrays import Float64Array, RealArray

DISTANCE = (
    "sum_j (s_j - x_j)^2 / (s_j + x_j), where a term of two zeros is 0; s and x have no negative "
    "features: an input that has some after the preprocessing has no decision"
)
"""The sum of the two kernels of this name, in words."""


@dataclass(frozen=True, slots=True)
class Chi2(Kernel):
    """K(s, x) = exp(-gamma sum_j (s_j - x_j)^2 / (s_j + x_j)), s, x >= 0."""

    gamma: float

    name: ClassVar[str] = "chi2"
    formula: ClassVar[str] = f"K(s, x) = exp(-gamma D), D = {DISTANCE}"
    self_value: ClassVar[float | None] = 1.0
    positive_definite: ClassVar[bool] = True  # for features that are 0 or more
    has_reach: ClassVar[bool] = True
    requires_nonnegative: ClassVar[bool] = True
    not_additive: ClassVar[str] = "chi2 is the exponential of a sum over the features, not a sum"

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return exp(-gamma sum_j (s_j - x_j)^2 / (s_j + x_j)), shape (n_queries, n_sv).

        A feature that is 0 in both rows adds nothing. A negative feature of an input counts as 0.
        scikit-learn refuses negative features; the C refuses those that are negative beyond their
        error.
        """
        return np.exp(-self.gamma * feature_sums(support_vectors, np.maximum(X, 0.0), chi2_term))

    def lower(self, context: KernelContext) -> Chi2Float32:
        """Return the kernel as the C computes it; `Chi2Float32` derives the constants."""
        return Chi2Float32.of(self.gamma, context)

    def reach(self, context: KernelContext) -> ExponentialReach:
        """Return 1 and the largest error."""
        return ExponentialReach.of_kernel(self.lower(context))


def chi2_term(x: Float64Array, s: Float64Array) -> Float64Array:
    """Return (x - s)^2 / (x + s) for x, s >= 0; of two zeros it is 0."""
    total = x + s
    term: Float64Array = (x - s) ** 2 / np.where(total == 0, 1.0, total)
    return term


@dataclass(frozen=True, slots=True, eq=False)
class Chi2Float32(ExponentialFloat32):
    """exp(-gamma sum_j (s_j - x_j)^2 / (s_j + x_j)) with terms d (d / t), d = x - s, t = x + s.

    - d counts twice, t, quotient and product once each: 5 roundings. With s, x >= 0 the quotient
      lies within [-1, 1], so that nothing overflows.
    - Underflow: a d or t that is flushed to 0 is below 2^-126, and so is the term, at most t. A
      quotient underflows where |d| < 2^-126 t <= 2^-6, t being at most 2^120 (the range
      analysis), so it costs the term less than 2^-126; the product and the addition once more.
    - With p = (s - x) / (s + x) in [-1, 1], the derivatives of a term are -2 p - p^2 in x and
      2 p - p^2 in s: at most 3. At s = x = 0 the term is continuous.
    """

    name: ClassVar[str] = "chi2"
    sum_text: ClassVar[str] = "sum_j (s_j - x_j)^2 / (s_j + x_j)"
    term_text: ClassVar[str] = "a term moves by at most 3 times what s_j and x_j move"
    roundings: ClassVar[int] = 5
    underflows: ClassVar[int] = 5
    steepest: ClassVar[float] = 3.0
    term_operations: ClassVar[int] = 4

    def accumulate(self, total: RealArray, x: RealArray, s: RealArray) -> None:
        """Add (x - s) ((x - s) / (x + s)) to the total; two zeros add nothing."""
        add_chi2_terms(total, x, s)


def add_chi2_terms(total: RealArray, x: RealArray, s: RealArray) -> None:
    """Add (x - s) ((x - s) / (x + s)) to the total in the C's order; two zeros add nothing."""
    difference, both = x - s, x + s
    quotient = np.zeros_like(difference)
    np.divide(difference, both, out=quotient, where=both > 0)
    total += difference * quotient
