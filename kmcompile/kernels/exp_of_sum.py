"""Kernels that are exp(-gamma D) of an accumulated sum D, as the C computes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcompile.kernels.float32 import Float32Kernel, Magnitudes, QueryTerms
from kmcompile.numeric.arrays import Real, RealArray
from kmcompile.numeric.scalar.functions import EXP_NEGATIVE, ScalarFunction


class ExpNegativeFloat32(Float32Kernel):
    """The common part of kernels exp(-gamma D) of an accumulated sum D: the value and its error."""

    gamma: Real
    z_error: Real
    value_error: Real

    @property
    def exponential(self) -> ScalarFunction:
        """exp(-z) in the kernel's precision."""
        return EXP_NEGATIVE[self.precision.dtype]

    def value(self, total: RealArray) -> RealArray:
        """Return exp(-gamma total)."""
        value: RealArray = self.exponential.of(self.gamma * total)
        return value

    def finish(self, total: RealArray, terms: QueryTerms) -> tuple[RealArray, RealArray]:
        """Return exp(-gamma total) and its error."""
        per_value, per_z = terms.values
        z = self.gamma * total
        value = self.exponential.of(z)
        return value, value * (per_value + per_z * z)

    @property
    def absolute_error(self) -> float:
        """Return the bound exp(1 - cutoff) on cut off values, plus the underflow of an error."""
        return (
            float(np.exp(1.0 - float(self.exponential.limit))) + 4 * self.precision.smallest_normal
        )

    def largest_value(self, of: Magnitudes) -> float:
        """Return a bound on the value, which is at most 1, and on its error."""
        z_error = float(self.z_error)
        widen = z_error * float(self.exponential.limit) + 2.0
        return 1.0 + float(self.value_error) + widen * (1.0 + z_error)

    def scalars(self) -> tuple[tuple[str, Any], ...]:
        """Return the exponential, the only scalar function that the C calls."""
        return ((self.exponential.template, self.exponential.view),)

    def context(self) -> dict[str, Any]:
        """Return the cutoff of the exponential, for the template."""
        return {"cutoff": self.exponential.limit}
