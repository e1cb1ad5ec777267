"""The rational quadratic kernel, K(s, x) = (1 + gamma |s - x|^2)^-alpha."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from kmcompile.kernels.exponential import ExponentialFloat32, ExponentialReach
from kmcompile.kernels.feature_sums import feature_sums
from kmcompile.kernels.float32 import KernelContext, Magnitudes
from kmcompile.kernels.kernel import Kernel
from kmcompile.numeric.arrays import Float64Array, Real, RealArray
from kmcompile.numeric.rounding import bound_constant
from kmcompile.numeric.scalar.functions import EXP_NEGATIVE, LOG1P, ScalarFunction

_LARGEST_ALPHA = 4.0
"""Up to here alpha sqrt(gamma) is the better bound on dz/dD at z = 1."""

_WIDENED = 1.03
"""See `RationalQuadraticFloat32`."""


@dataclass(frozen=True, slots=True)
class RationalQuadratic(Kernel):
    """K(s, x) = (1 + gamma |s - x|^2)^-alpha.

    Parameters
    ----------
    gamma : float
        1 / (2 alpha length_scale^2) of scikit-learn's RationalQuadratic, above 0.
    alpha : float
        Above 0.
    """

    gamma: float
    alpha: float

    name: ClassVar[str] = "rational_quadratic"
    formula: ClassVar[str] = "K(s, x) = (1 + gamma sum_j (s_j - x_j)^2)^-alpha"
    self_value: ClassVar[float | None] = 1.0
    positive_definite: ClassVar[bool] = True  # a mixture of rbf kernels
    has_reach: ClassVar[bool] = True
    of_distance: ClassVar[bool] = True

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return exp(-alpha log(1 + gamma |s_i - x_q|^2)), shape (n_queries, n_sv)."""
        squares = feature_sums(support_vectors, X, lambda x, s: (x - s) ** 2)
        values: Float64Array = np.exp(-self.alpha * np.log1p(self.gamma * squares))
        return values

    @property
    def slope(self) -> float:
        """The largest |dK/dD|, D = |s - x|: 2 alpha gamma D (1 + gamma D^2)^(-alpha - 1) is largest
        at gamma D^2 = 1 / (2 alpha + 1)."""
        top = 1 / (2 * self.alpha + 1)
        fallen = math.exp(-(self.alpha + 1) * math.log1p(top))
        return 2 * self.alpha * math.sqrt(self.gamma * top) * fallen

    def lower(self, context: KernelContext) -> RationalQuadraticFloat32:
        """Return the kernel as the C computes it; `RationalQuadraticFloat32` has the derivation."""
        n, precision = context.n_features, context.precision
        tiny, log = precision.smallest_normal, LOG1P[precision.dtype]
        g = (1 + precision.gamma_factor(n + 6)) * (1 + log.relative_error) - 1
        lost = (self.gamma * (2 * n) + 1) * tiny + log.absolute_error
        alpha = precision.stored_factor("alpha", self.alpha)
        slope, z_slope = self.alpha * math.sqrt(self.gamma), precision.dtype(0.0)
        if self.alpha > _LARGEST_ALPHA:
            slope = _WIDENED * math.sqrt(self.alpha * self.gamma)
            tau = EXP_NEGATIVE[precision.dtype].relative_error
            z_slope = precision.bound_constant(slope / (1 - tau))
        own = {"alpha": alpha, "z_slope": z_slope}
        underflow = self.alpha * lost + tiny
        return RationalQuadraticFloat32.with_errors(
            context, g, slope, underflow, gamma=self.gamma, **own
        )

    def reach(self, context: KernelContext) -> ExponentialReach:
        """Return 1 and the largest error: from x to the prepared x, K moves by its `slope`."""
        reach = ExponentialReach.of_kernel(self.lower(context))
        return replace(reach, slope=bound_constant(self.slope))


@dataclass(frozen=True, slots=True, eq=False)
class RationalQuadraticFloat32(ExponentialFloat32):
    """exp(-z), z = alpha log(1 + gamma |s - x|^2), as the C computes it, with its error.

    Let s^, x^ be the stored vector and input, n the features, D = |s^ - x^|, w = gamma D^2.

    - Differences (twice, being squared), product, n - 1 additions, the stored gamma and its
      product: w^ = w (1 + a) + lost, |a| <= gamma_(n + 4) (Higham, Lemma 3.1). At most
      2 n 2^-126 are lost of D^2 by underflow, and 2^-126 of the product.
    - The slope of log(1 + w) by log(w), w / ((1 + w) log(1 + w)), is within [0, 1], as
      log(1 + w) >= w / (1 + w). So log(1 + w (1 + a)) lies between log(1 + w) and 1 + a times it: a
      rounding of w counts at most once in z. What is lost moves z by at most alpha lost.
    - With the logarithm's error, the stored alpha and the last product: z^ = z (1 + theta),
      |theta| <= g = (1 + gamma_(n + 6)) (1 + rho) - 1, rho that of `LOG1P`.
    - dz/dD = 2 alpha gamma D / (1 + gamma D^2) is largest at gamma D^2 = 1, alpha sqrt(gamma). With
      e >= |s - s^| + |x - x^|, | |s - x| - D | <= e: the exact z is within z_error z^ + shift of
      z^, z_error = g / (1 - g), shift = alpha sqrt(gamma) e + underflow.
    - For large alpha this is far more than for rbf, to which K then tends. With b = sqrt(alpha
      gamma) and p = exp(-z / alpha), dz/dD = 2 b sqrt(p) sqrt(alpha (1 - p)) <= 2 b sqrt(z)
      <= b (1 + z). So a move r = b e of D moves z by at most r / (1 - r) (1 + z): z_error grows by
      `z_slope` e, and shift is as much. Where the bound is usable, both r and z_error are below
      1 / 86, and 1.03 covers 1 / (1 - r) and that z is z^ (1 + z_error) at most.

    From there on it is as for `ExponentialFloat32`.

    Parameters
    ----------
    gamma, vector_error, z_error, slope, shift_minimum, value_error, alpha : float32 or float64
        slope >= alpha sqrt(gamma) / (1 - tau), or 1.03 sqrt(alpha gamma) / (1 - tau).
    z_slope : float32 or float64
        The latter; with the former 0.
    """

    alpha: Real
    z_slope: Real

    name: ClassVar[str] = "rational_quadratic"
    uses_distance: ClassVar[bool] = True
    finish_operations: ClassVar[int] = 48
    value_operations: ClassVar[int] = 40
    sum_text: ClassVar[str] = "|s - x|^2, L = log(1 + gamma D)"
    z_text: ClassVar[str] = "alpha L"
    of_argument_name: ClassVar[str] = "exp_negative"
    term_text: ClassVar[str] = "its slope by |s - x| is at most slope"

    @property
    def moves_with_z(self) -> bool:
        """Whether the relative error of z grows with e."""
        return bool(self.z_slope > 0)

    @property
    def steepest_z(self) -> float:
        """How fast y_max grows with e."""
        return float(self.slope) + float(self.z_slope) * float(self.exponential.limit)

    def relative_error(self, spread: Real | RealArray) -> Any:
        """Return the relative error of z for spreads e; more than 1 is of no use."""
        if not self.moves_with_z:
            return self.z_error
        return np.minimum(self.z_error + self.z_slope * spread, self.precision.dtype(1.0))

    @property
    def logarithm(self) -> ScalarFunction:
        """log(1 + u) in the kernel's precision."""
        return LOG1P[self.precision.dtype]

    def accumulate(self, total: RealArray, x: RealArray, s: RealArray) -> None:
        """Add (x - s)^2 to the total."""
        difference = x - s
        total += difference * difference

    def argument(self, total: RealArray) -> RealArray:
        """Return z = alpha log(1 + gamma total)."""
        z: RealArray = self.alpha * self.logarithm.of(self.gamma * total)
        return z

    def largest_intermediate(self, of: Magnitudes) -> float:
        """Return a bound on D^2 and gamma D^2, and on z and its share of the error."""
        largest = max(1.0, float(self.gamma)) * of.distance_squared
        z = float(self.alpha) * math.log1p(largest)
        return max(largest, z * self.largest_value(of))

    def scalars(self) -> tuple[tuple[str, Any], ...]:
        """Return the exponential and the logarithm."""
        return tuple((of.template, of.view) for of in (self.exponential, self.logarithm))
