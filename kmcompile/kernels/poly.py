"""The polynomial kernel, K(s, x) = (gamma <s, x> + coef0)^degree."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from kmcompile.errors import InputError
from kmcompile.kernels.float32 import KernelContext, Magnitudes, QueryTerms
from kmcompile.kernels.inner_product import InnerProductFloat32, inner_product_error
from kmcompile.kernels.kernel import Kernel, Polynomial, Series
from kmcompile.kernels.reach import Reach
from kmcompile.numeric.arrays import (
    Bound,
    Float32Array,
    Float64Array,
    Real,
    RealArray,
    RealBound,
    magnitude,
)
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import (
    LARGEST_INTERMEDIATE,
    UNIT_ROUNDOFF,
    bound_constant,
    gamma_factor,
)
from kmcompile.numeric.scalar import power

_LARGEST_DEGREE = 64  # beyond it float32 overflows or underflows on any data


@dataclass(frozen=True, slots=True)
class Poly(Kernel):
    """K(s, x) = (gamma <s, x> + coef0)^degree with an integer degree."""

    gamma: float
    coef0: float
    degree: int

    name: ClassVar[str] = "poly"
    formula: ClassVar[str] = "K(s, x) = (gamma sum_j s_j x_j + coef0)^degree"
    of_inner_product: ClassVar[bool] = True
    fits_image: ClassVar[bool] = True
    uses_length: ClassVar[bool] = True
    has_reach: ClassVar[bool] = True
    is_polynomial: ClassVar[bool] = True
    has_gradient: ClassVar[bool] = True
    has_series: ClassVar[bool] = True

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return (gamma <s_i, x_q> + coef0)^degree, shape (n_queries, n_sv)."""
        inner: Float64Array = self.gamma * (X @ support_vectors.T) + self.coef0
        return inner**self.degree

    @property
    def positive_definite(self) -> bool:
        """Whether K is positive definite: if gamma > 0 and coef0 >= 0."""
        return self.gamma > 0 and self.coef0 >= 0

    def lower(self, context: KernelContext) -> PolyFloat32:
        """Return the kernel as the C computes it; `PolyFloat32` derives the constants."""
        per_length, per_deviation, minimum = inner_product_error(self.gamma, self.coef0, context)
        p = self.degree
        precision = context.precision
        if p > _LARGEST_DEGREE:
            raise InputError(f"degree is {p}, must be at most {_LARGEST_DEGREE}; retrain the model")
        return PolyFloat32(
            gamma=precision.stored_factor("gamma", self.gamma),
            coef0=precision.dtype(self.coef0),
            degree=p,
            per_length=per_length,
            per_deviation=per_deviation,
            minimum=minimum,
            # The factor covers the downward roundings of the power p - 1 in the bound itself.
            slope=precision.bound_constant(p * (1 + 2 * precision.gamma_factor(p + 2))),
            value_error=precision.bound_constant(
                2 * power.relative_error(p, precision.unit_roundoff) + context.sum_error
            ),
        )

    @property
    def polynomial(self) -> Polynomial:
        """The kernel's form."""
        return Polynomial(self.gamma, self.coef0, self.degree)

    @property
    def condition(self) -> float:
        """The degree: a power multiplies the relative error of its base."""
        return self.degree

    def series(self) -> Series:
        """Return all powers: the factor of <s, x>^k is C(d, k) coef0^(d - k) gamma^k."""
        d = self.degree
        factors = (math.comb(d, k) * self.coef0 ** (d - k) * self.gamma**k for k in range(d + 1))
        return Series(tuple(factors))

    def gradient(self, Z: Float64Array, X: Float64Array, C: Float64Array) -> Float64Array:
        """Return dK/dz = degree gamma (gamma <z, x> + coef0)^(degree - 1) x, weighted."""
        if self.degree == 0:
            return np.zeros_like(Z)
        inner = (self.gamma * (Z @ X.T) + self.coef0) ** (self.degree - 1)
        result: Float64Array = (C * inner) @ X * (self.degree * self.gamma)
        return result

    def reach(self, context: KernelContext) -> PolyReach:
        """Return the constants of K(x, x) and of the largest error, for gamma > 0, coef0 >= 0."""
        kernel, p = self.lower(context), self.degree
        return PolyReach(
            bound_constant(self.gamma),
            bound_constant(self.coef0),
            bound_constant(context.vector_length),
            p,
            bound_constant(1 + 2 * gamma_factor(3 * p + 8) + 8 * UNIT_ROUNDOFF),
            kernel.per_length,
            kernel.per_deviation,
            kernel.minimum,
            kernel.slope,
            bound_constant(float(kernel.value_error) + 4 * kernel.absolute_error),
        )

    def in_code_units(self, factor: float) -> Poly:
        """Return the kernel for coordinates times `factor`: gamma becomes gamma / factor^2."""
        return replace(self, gamma=self.gamma / factor / factor)


@dataclass(frozen=True, slots=True, eq=False)
class PolyReach(Reach):
    """K(x, x) = (gamma |x|^2 + coef0)^degree and the error of `PolyFloat32` where it is largest.

    With X + delta >= |x| and Z >= |z|: |v| <= w = gamma (X + delta) Z + coef0, and the computed v
    is within r of it (`inner_product_error`), so the error is at most
    slope r (w + r)^(degree - 1) + value_error (w + r)^degree. Squares, products and powers are
    rounded up by a factor each.

    Parameters
    ----------
    gamma, coef0 : float32
        Rounded up.
    longest : float32
        Z.
    degree : int
    up : float32
    per_length, per_deviation, minimum, slope, value_error : float32
        Error constants of the kernel.
    """

    gamma: np.float32
    coef0: np.float32
    longest: np.float32
    degree: int
    up: Bound
    per_length: Bound
    per_deviation: Bound
    minimum: Bound
    slope: np.float32
    value_error: Bound

    name: ClassVar[str] = "poly_reach"

    def of(self, batch: Batch) -> tuple[Float32Array, Float32Array]:
        """Return the two bounds, which are infinite where they overflow."""
        with np.errstate(over="ignore"):
            return self._of(batch)

    def _of(self, batch: Batch) -> tuple[Float32Array, Float32Array]:
        length = batch.length + batch.deviation
        r = self.per_length * batch.length + self.per_deviation * batch.deviation + self.minimum
        w = self.gamma * length * self.longest + self.coef0 + r
        square = power.power(self.gamma * length * length + self.coef0, self.degree) * self.up
        steepest = power.power(w, max(self.degree - 1, 0))
        error = self.slope * r * steepest + self.value_error * (steepest * w + np.float32(1.0))
        return square.astype(np.float32), (error * self.up).astype(np.float32)

    def context(self) -> dict[str, Any]:
        """Return the powers of K(x, x) and of the slope."""
        slope_power = power.power_view(max(self.degree - 1, 0))
        return {"value_power": power.power_view(self.degree), "slope_power": slope_power}


@dataclass(frozen=True, slots=True, eq=False)
class PolyFloat32(InnerProductFloat32):
    """v^p with v = gamma <s, x> + coef0 as the C computes it, with its error.

    With |v - v^| <= r (`inner_product_error`): |v^p - v^^p| <= p r (|v^| + r)^(p - 1) by the mean
    value theorem, and the p - 1 multiplications of the power have relative error gamma_(p - 1).
    """

    gamma: Real
    coef0: Real
    degree: int
    per_length: RealBound
    per_deviation: RealBound
    minimum: RealBound
    slope: Real
    value_error: RealBound

    name: ClassVar[str] = "poly"
    reach_class: ClassVar[type[Reach]] = PolyReach
    finish_operations: ClassVar[int] = 16
    value_operations: ClassVar[int] = 8
    value_bound: ClassVar[float] = LARGEST_INTERMEDIATE

    def query_terms(self, batch: Batch) -> QueryTerms:
        """Return r, the error of v, and slope * r."""
        r = self.argument_error(batch.length, batch.deviation)
        return QueryTerms((r[:, None], (self.slope * r)[:, None]), np.ones(len(r), dtype=bool))

    def argument(self, total: RealArray) -> RealArray:
        """Return v = gamma total + coef0."""
        v: RealArray = self.gamma * total + self.coef0
        return v

    def value(self, total: RealArray) -> RealArray:
        """Return (gamma total + coef0)^degree."""
        return power.power(self.argument(total), self.degree)

    def finish(self, total: RealArray, terms: QueryTerms) -> tuple[RealArray, RealArray]:
        """Return (gamma total + coef0)^degree and its error."""
        r, slope = terms.values
        v = self.argument(total)
        value = power.power(v, self.degree)
        steepest = power.power(magnitude(v) + r, max(self.degree - 1, 0))
        return value, slope * steepest + magnitude(value) * self.value_error

    @property
    def absolute_error(self) -> float:
        """Return the underflow of the powers and of an error."""
        underflow = power.absolute_error(self.degree, self.precision.smallest_normal)
        return 2 * self.degree * underflow + 4 * self.precision.smallest_normal

    def largest_value(self, of: Magnitudes) -> float:
        """Return a bound on the value and on its slope times r."""
        v = abs(float(self.gamma)) * of.inner + abs(float(self.coef0))
        largest = 1.01 * max(v + self.largest_argument_error(of), 1.0)
        # An exponent of 1000 stands for everything beyond float32.
        exponent = min(self.degree * math.log2(largest), 1000.0)
        return 4.0 * max(1, self.degree) * math.exp2(exponent)

    def largest_intermediate(self, of: Magnitudes) -> float:
        """Return a bound on |v| + r and on the sum in v."""
        v = max(1.0, abs(float(self.gamma))) * of.inner + abs(float(self.coef0))
        return v + self.largest_argument_error(of)

    @property
    def _powers(self) -> tuple[power.PowerView, power.PowerView]:
        return power.power_view(self.degree), power.power_view(max(self.degree - 1, 0))

    def scalars(self) -> tuple[tuple[str, Any], ...]:
        """Return the powers of the value and its slope, each once; none for a slope of 1."""
        value, slope = self._powers
        both = (value,) if slope.is_one else (value, slope)
        return tuple(("power", view) for view in both)

    def context(self) -> dict[str, Any]:
        """Return the two powers, for the template."""
        value, slope = self._powers
        return {"value_power": value, "slope_power": slope}
