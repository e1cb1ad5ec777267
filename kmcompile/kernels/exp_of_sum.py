"""Kernels that are exp(-gamma D) of an accumulated sum D, as the C computes them."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

import numpy as np

from kmcompile.kernels.float32 import Float32Kernel, Magnitudes, QueryTerms
from kmcompile.kernels.reach import Reach
from kmcompile.numeric.arrays import Bound, Float32Array, Real, RealArray, RealBound
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import bound_constant
from kmcompile.numeric.scalar import exp_negative
from kmcompile.numeric.scalar.functions import EXP_NEGATIVE, ScalarFunction


class UnitReach(Reach):
    """The reach for kernels exp(-z): K(x, x) = 1, and the error of a value where it is largest.

    k^ (per_value + per_z z) with k^ <= exp(-z) (1 + tau): exp(-z) <= 1 and z exp(-z) <= 1 / e, so
    per_value + per_z / e is an upper bound; `per_z` here has 1 / e and 1 + tau in it. With
    widen = 1 + z_error cutoff + shift it is value_error + widen (shift + per_z). Where the
    kernel's own bound is not usable (widen > 2) the error is 1, since 0 < k <= 1.
    """

    widest: Bound
    """z_error cutoff."""
    per_z: Bound
    value_error: Bound

    @abstractmethod
    def growth(self, batch: Batch, spread: RealArray) -> RealArray:
        """Return `shift` of each query, which counts up to 1, shape (n_queries,), float32."""

    def of(self, batch: Batch) -> tuple[Float32Array, Float32Array]:
        """Return 1 and the largest error, for each query."""
        one = np.float32(1.0)
        shift = np.minimum(self.growth(batch, batch.deviation), one)
        widen = self.widest + shift + one
        error = self.value_error + widen * (shift + self.per_z)
        return np.ones_like(error), np.minimum(error, one)


class ExpNegativeFloat32(Float32Kernel):
    """The common part of kernels exp(-gamma D) of an accumulated sum D: the value and its error."""

    gamma: Real
    vector_error: RealBound
    z_error: RealBound
    value_error: RealBound

    @property
    def exponential(self) -> ScalarFunction:
        """exp(-z) in the kernel's precision."""
        return EXP_NEGATIVE[self.precision.dtype]

    def argument(self, total: RealArray) -> RealArray:
        """Return z = gamma total."""
        z: RealArray = self.gamma * total
        return z

    def of_argument(self, z: RealArray) -> RealArray:
        """Return the value, exp(-z)."""
        value: RealArray = self.exponential.of(z)
        return value

    def factor(self, z: float) -> float:
        """Return K exp(z) in real numbers, which does not fall with z."""
        return 1.0

    @property
    def steepness(self) -> float:
        """Bound on e z k^, at most 1 for exp(-z)."""
        return 1.0

    @abstractmethod
    def growth(self, batch: Batch, spread: RealArray) -> RealArray:
        """Return what z may be off by for spreads e, its relative error aside."""

    def query_terms(self, batch: Batch) -> QueryTerms:
        """Return the two terms of a value's error: a constant one, and the factor of z."""
        one = np.float32(1.0)
        spread = batch.deviation + self.vector_error
        # A bound above 1 is useless, and might overflow below.
        shift = np.minimum(self.growth(batch, spread), one)
        z_error = self.relative_error(spread)
        widest = z_error * self.exponential.limit + shift
        widen = widest + one
        per_value = self.value_error + widen * shift
        per_z = widen * z_error
        return QueryTerms((per_value[:, None], per_z[:, None]), widest <= one)

    def value(self, total: RealArray) -> RealArray:
        """Return the value of a total."""
        return self.of_argument(self.argument(total))

    def relative_error(self, spread: Real | RealArray) -> Any:
        """Return the relative error of z for spreads e, one for all or of their shape."""
        return self.z_error

    def finish(self, total: RealArray, terms: QueryTerms) -> tuple[RealArray, RealArray]:
        """Return the value of a total and its error."""
        per_value, per_z = terms.values
        z = self.argument(total)
        value = self.of_argument(z)
        return value, value * (per_value + per_z * z)

    def largest_errors(self) -> tuple[np.float32, np.float32, np.float32]:
        """Return `widest`, `per_z` and `value_error` of the kernel's reach."""
        tau, cutoff = exp_negative.RELATIVE_ERROR, exp_negative.CUTOFF
        lost = self.factor(float(cutoff)) * float(np.exp(1.0 - cutoff))
        return (
            bound_constant(float(self.z_error) * float(cutoff)),
            bound_constant(float(self.z_error) * (1 + tau) / np.e * self.steepness),
            bound_constant(float(self.value_error) + lost),
        )

    @property
    def absolute_error(self) -> float:
        """Return the bound on cut off values, those at cutoff - 1, plus an error's underflow."""
        cutoff = float(self.exponential.limit)
        lost = self.factor(cutoff) * float(np.exp(1.0 - cutoff))
        return lost + 4 * self.precision.smallest_normal

    def largest_value(self, of: Magnitudes) -> float:
        """Return a bound on the value, which is at most 1, and on its error."""
        z_error = float(self.relative_error(self.precision.dtype(np.inf)))
        widen = z_error * float(self.exponential.limit) + 2.0
        return 1.0 + float(self.value_error) + widen * (1.0 + z_error * self.steepness)

    def scalars(self) -> tuple[tuple[str, Any], ...]:
        """Return the exponential, the only scalar function that the C calls."""
        return ((self.exponential.template, self.exponential.view),)

    def context(self) -> dict[str, Any]:
        """Return the cutoff of the exponential, for the template."""
        return {"cutoff": self.exponential.limit}
