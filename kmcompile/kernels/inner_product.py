"""The rounding error of gamma <s, x> + coef0, which poly and sigmoid share."""

from __future__ import annotations

from typing import ClassVar

from kmcompile.kernels.float32 import Float32Kernel, KernelContext, Magnitudes
from kmcompile.numeric.arrays import Real, RealArray, RealBound


def inner_product_error(
    gamma: float, coef0: float, context: KernelContext
) -> tuple[Real, Real, Real]:
    """Return the constants of the error of v = gamma <s, x> + coef0 as the C computes it.

    With s^, x^ as stored, S >= |s^|, e >= |s - s^|, delta >= |x - x^|, X >= |x^|:

    - the sum of n products in any order: |t^ - <s^, x^>| <= gamma_n S X (Higham, eq. 3.5);
    - |<s, x> - <s^, x^>| <= e X + (S + e) delta;
    - v^ = fl(fl(gamma^ t^) + coef0^): two roundings and gamma's own on gamma t^, at most
      3 u gamma S X (1 + ...), coef0's own and the last addition: 2 u |coef0| + u gamma S X.

    Returns
    -------
    per_length, per_deviation, minimum : float32 or float64
        |v - v^| <= per_length X + per_deviation delta + minimum, rounded up.
    """
    gamma = abs(gamma)
    precision = context.precision
    u = precision.unit_roundoff
    S, e = context.vector_length, context.vector_error
    n = context.n_features
    g = precision.gamma_factor(n)
    per_length = gamma * (g * S + e + 5 * u * (1 + g) * S)
    per_deviation = gamma * (S + e)
    minimum = 3 * u * abs(coef0) + (gamma * n + 2) * 2 * precision.smallest_normal
    bound = precision.bound_constant
    return bound(per_length), bound(per_deviation), bound(minimum)


class InnerProductFloat32(Float32Kernel):
    """A kernel that is a function of v = gamma <s, x> + coef0, with `inner_product_error`."""

    per_length: RealBound
    per_deviation: RealBound
    minimum: RealBound

    uses_inner_product: ClassVar[bool] = True

    def accumulate(self, total: RealArray, x: RealArray, s: RealArray) -> None:
        """Add x s to the total."""
        total += x * s

    def argument_error(self, length: RealArray, deviation: RealArray) -> RealArray:
        """Return r, the error of v."""
        r: RealArray = self.per_length * length + self.per_deviation * deviation + self.minimum
        return r

    def largest_argument_error(self, of: Magnitudes) -> float:
        """Return the largest error r of v for an accepted input."""
        return (
            float(self.per_length) * of.length
            + float(self.per_deviation) * of.deviation
            + float(self.minimum)
        )
