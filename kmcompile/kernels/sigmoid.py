"""The sigmoid kernel, K(s, x) = tanh(gamma <s, x> + coef0)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from kmcompile.kernels.float32 import KernelContext, Magnitudes, QueryTerms
from kmcompile.kernels.inner_product import InnerProductFloat32, inner_product_error
from kmcompile.kernels.kernel import Kernel, Series
from kmcompile.numeric.arrays import Float64Array, Real, RealArray, RealBound, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32
from kmcompile.numeric.scalar.functions import EXP_NEGATIVE, TANH, ScalarFunction


@dataclass(frozen=True, slots=True)
class Sigmoid(Kernel):
    """K(s, x) = tanh(gamma <s, x> + coef0)."""

    gamma: float
    coef0: float

    name: ClassVar[str] = "sigmoid"
    formula: ClassVar[str] = "K(s, x) = tanh(gamma sum_j s_j x_j + coef0)"
    positive_definite: ClassVar[bool] = False  # only for some parameters and data
    of_inner_product: ClassVar[bool] = True
    fits_image: ClassVar[bool] = True
    uses_length: ClassVar[bool] = True
    has_series: ClassVar[bool] = True

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return tanh(gamma <s_i, x_q> + coef0), shape (n_queries, n_sv)."""
        return np.tanh(self.gamma * (X @ support_vectors.T) + self.coef0)

    def lower(self, context: KernelContext) -> SigmoidFloat32:
        """Return the kernel as the C computes it; `SigmoidFloat32` derives the constants."""
        per_length, per_deviation, minimum = inner_product_error(self.gamma, self.coef0, context)
        precision = context.precision
        return SigmoidFloat32(
            gamma=precision.stored_factor("gamma", self.gamma),
            coef0=precision.dtype(self.coef0),
            per_length=per_length,
            per_deviation=per_deviation,
            minimum=minimum,
            function_error=precision.bound_constant(TANH[precision.dtype].relative_error),
            value_error=precision.bound_constant(context.sum_error),
        )

    def series(self) -> Series:
        """Return Taylor's terms at <s, x> = 0 of degree 2 at most.

        tanh' is 1 / cosh^2, tanh'' / 2 is -tanh / cosh^2, and a third derivative at most 2: with
        u = gamma <s, x> the rest is at most |u|^3 / 3 and its derivative by u at most u^2.
        """
        value = math.tanh(self.coef0)
        slope = math.cosh(min(abs(self.coef0), 300.0)) ** -2
        factors = (value, self.gamma * slope, -(self.gamma**2) * value * slope)
        return Series(factors, abs(self.gamma) ** 3 / 3)

    def in_code_units(self, factor: float) -> Sigmoid:
        """Return the kernel for coordinates times `factor`: gamma becomes gamma / factor^2."""
        return replace(self, gamma=self.gamma / factor / factor)


@dataclass(frozen=True, slots=True, eq=False)
class SigmoidFloat32(InnerProductFloat32):
    """tanh(v) with v = gamma <s, x> + coef0 as the C computes it, with its error.

    With |v - v^| <= r (`inner_product_error`), k^ the computed value and tau the error of our
    tanh: the slope between v and v^ is at most 1 - tanh(max(0, |v^| - r))^2
    <= 1 - k^^2 + 2 (r + tau), since tanh(|v^| - r) >= tanh |v^| - r. So
    |k - k^| <= r (1 - k^^2 + 2 (r + tau)) + tau.
    """

    gamma: Real
    coef0: Real
    per_length: RealBound
    per_deviation: RealBound
    minimum: RealBound
    function_error: RealBound
    value_error: RealBound

    name: ClassVar[str] = "sigmoid"
    finish_operations: ClassVar[int] = 40
    value_operations: ClassVar[int] = 32
    value_bound: ClassVar[float] = 1.0

    @property
    def _tanh(self) -> ScalarFunction:
        return TANH[self.precision.dtype]

    def query_terms(self, batch: Batch) -> QueryTerms:
        """Return r, the error of v, and 1 + 2 (r + tau), rounded up."""
        r = self.argument_error(batch.length, batch.deviation)
        steepest = (r + self.function_error) * np.float32(2.0) + np.float32(1.0 + 2.0**-20)
        return QueryTerms((r[:, None], steepest[:, None]), np.ones(len(r), dtype=bool))

    def value(self, total: RealArray) -> RealArray:
        """Return tanh(gamma total + coef0)."""
        value: RealArray = self._tanh.of(self.gamma * total + self.coef0)
        return value

    def finish(self, total: RealArray, terms: QueryTerms) -> tuple[RealArray, RealArray]:
        """Return tanh(gamma total + coef0) and its error."""
        r, steepest = terms.values
        value = self._tanh.of(self.gamma * total + self.coef0)
        error = r * (steepest - value * value) + self.function_error
        return value, error + magnitude(value) * self.value_error

    @property
    def absolute_error(self) -> float:
        """Return the underflow of an error."""
        return 4 * self.precision.smallest_normal

    def largest_value(self, of: Magnitudes) -> float:
        """Return a bound on the error; the value itself is at most 1."""
        r = self.largest_argument_error(of)
        return 1.0 + r * (3.0 + 2.0 * r)

    def largest_intermediate(self, of: Magnitudes) -> float:
        """Return a bound on |v| + r and on the sum in v."""
        v = max(1.0, abs(float(self.gamma))) * of.inner + abs(float(self.coef0))
        return 2 * (v + self.largest_argument_error(of) + 1.0)

    def scalars(self) -> tuple[tuple[str, Any], ...]:
        """Return tanh, and before it the exponential if tanh calls it."""
        own = (self._tanh.template, self._tanh.view)
        if self.precision is FLOAT32:
            return (own,)
        exponential = EXP_NEGATIVE[np.float64]
        return ((exponential.template, exponential.view), own)
