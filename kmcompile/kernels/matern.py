"""The Matern kernels, K(s, x) = p(z) exp(-z), z = gamma |s - x|, p of degree 0, 1 or 2."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.kernels.exponential import ExponentialFloat32, ExponentialReach
from kmcompile.kernels.feature_sums import feature_sums
from kmcompile.kernels.float32 import KernelContext, Magnitudes
from kmcompile.kernels.kernel import Kernel
from kmcompile.kernels.reach import Reach
from kmcompile.numeric.arrays import Float64Array, Real, RealArray
from kmcompile.numeric.scalar.functions import EXP_NEGATIVE, SQUARE_ROOT

DEGREES = (0, 1, 2)
"""Degrees of p: scikit-learn's nu less 1/2."""

_ROUNDINGS = (0, 2, 6)
"""Roundings of p and of its product with the exponential, for each degree."""

_STEEPNESS = (1.0, 2.29, 3.21)
"""Bounds on e z K for each degree: z exp(-z) <= 1 / e; z K is largest at z = 1.6181 and 2.1038,
where it is 0.83997 and 1.17522."""


@dataclass(frozen=True, slots=True)
class Matern(Kernel):
    """K(s, x) = p(z) exp(-z), z = gamma |s - x|, with p of degree 0, 1 or 2.

    Parameters
    ----------
    gamma : float
        sqrt(2 nu) / length_scale of scikit-learn's Matern, above 0.
    degree : int
        nu - 1/2: of p(z) = 1, 1 + z, 1 + z + z^2 / 3.
    """

    gamma: float
    degree: int

    name: ClassVar[str] = "matern"
    formula: ClassVar[str] = (
        "K(s, x) = p(z) exp(-z), z = gamma sqrt(sum_j (s_j - x_j)^2), where p(z) is 1, 1 + z or "
        "1 + z + z^2 / 3 for degree 0, 1 or 2"
    )
    self_value: ClassVar[float | None] = 1.0
    positive_definite: ClassVar[bool] = True
    has_reach: ClassVar[bool] = True
    of_distance: ClassVar[bool] = True

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return p(z) exp(-z) of every pair, shape (n_queries, n_sv), from sums of squares."""
        z = self.gamma * np.sqrt(feature_sums(support_vectors, X, lambda x, s: (x - s) ** 2))
        values: Float64Array = factor(self.degree, z) * np.exp(-z)
        return values

    @property
    def slope(self) -> float:
        """gamma: |K'| <= K <= 1 as a function of z (`MaternFloat32`)."""
        return self.gamma

    def lower(self, context: KernelContext) -> MaternFloat32:
        """Return the kernel as the C computes it; `MaternFloat32` derives the constants."""
        n, precision = context.n_features, context.precision
        tiny = precision.smallest_normal
        root = SQUARE_ROOT[precision.dtype]
        of_sum = precision.gamma_factor(n + 2)
        of_root = (1 + of_sum / (1 + math.sqrt(1 - of_sum))) * (1 + root.relative_error)
        g = of_root * (1 + precision.gamma_factor(2)) - 1
        of_factor = 1 + precision.gamma_factor(_ROUNDINGS[self.degree]) + 4 * tiny
        tau = (1 + EXP_NEGATIVE[precision.dtype].relative_error) * of_factor - 1
        underflow = self.gamma * (math.sqrt(2 * n * tiny) + math.sqrt(root.limit)) + tiny
        own = {"third": precision.dtype(1 / 3), "degree": self.degree}
        return MaternFloat32.with_errors(
            context, g, self.gamma, underflow, tau, gamma=self.gamma, **own
        )

    def reach(self, context: KernelContext) -> MaternReach:
        """Return 1 and the largest error."""
        return MaternReach.of_kernel(self.lower(context))


def factor(degree: int, z: Float64Array) -> Float64Array:
    """Return p(z): 1, 1 + z or 1 + z + z^2 / 3 for degree 0, 1 or 2, of any shape, float64."""
    return np.ones_like(z) if degree == 0 else 1 + z if degree == 1 else 1 + z + z * z / 3


@dataclass(frozen=True, slots=True, eq=False)
class MaternReach(ExponentialReach):
    """The reach for Matern kernels, as for the exponential ones, with z K <= `_STEEPNESS` / e."""

    value_text: ClassVar[str] = "K"
    product_text: ClassVar[str] = "z K <= 1.18"
    per_z_text: ClassVar[str] = "times the largest z K"


@dataclass(frozen=True, slots=True, eq=False)
class MaternFloat32(ExponentialFloat32):
    """p(z) exp(-z), z = gamma |s - x|, as the C computes it, with its error.

    Let s^, x^ be the stored vector and input, n the features, D = |s^ - x^| and z^ the computed
    gamma D.

    - D^2: differences (twice, being squared), product, n - 1 additions of numbers that are 0 or
      more: D^2 (1 + a), |a| <= a_n = gamma_(n + 2) (Higham, Lemma 3.1). Its root is off by
      |sqrt(1 + a) - 1| = |a| / (1 + sqrt(1 + a)) <= a_n / (1 + sqrt(1 - a_n)), by the error of the
      square root, and z^ by the stored gamma and the last product: z^ = gamma D (1 + theta),
      |theta| <= g.
    - With e >= |s - s^| + |x - x^|: | |s - x| - D | <= e, the triangle inequality.
    - So the exact z = gamma |s - x| has |z - z^| <= y = z_error z^ + shift, z_error = g / (1 - g),
      shift = gamma e + underflow. Of D^2 at most 2 n 2^-126 are lost by underflow, and so of D at
      most the root of this; the root in float64 loses at most 2^-90 below its range.
    - -K'/K is 1, z / (1 + z) or (z + z^2) / (3 + 3 z + z^2), within [0, 1]: K exp(z) grows with z,
      and |K(z) - K(z^)| <= K(z^) (exp(y) - 1) <= K(z^) y (1 + y) for y <= 1.
    - p has 0, 1 or 5 roundings, none of a difference, and its product with exp(-z^) (1 + tau'),
      |tau'| <= tau, one more where p is not 1: k^ = K(z^) (1 + tau''). Where it exceeds 1, k^ is
      1, and 1 - K(z^) <= tau''. As for `ExponentialFloat32`,
      |k - k^| <= k^ [tau'' + y (1 + y_max)] / (1 - tau''), y_max = z_error cutoff + shift.
    - From the cutoff on, k^ = 0 and k <= K(cutoff - 1) <= p(cutoff) exp(1 - cutoff), as y_max <= 1;
      the sum's constant error covers it.
    - Where y_max > 1, none of these bounds is usable. The sum then takes the trivial 0 < k <= 1.

    Parameters
    ----------
    gamma, vector_error, z_error, slope, shift_minimum, value_error : float32 or float64
        slope >= gamma / (1 - tau'').
    third : float32 or float64
        1 / 3, rounded.
    degree : int
        Of p.
    """

    third: Real
    degree: int

    name: ClassVar[str] = "matern"
    reach_class: ClassVar[type[Reach]] = MaternReach
    uses_distance: ClassVar[bool] = True
    needs_square_root: ClassVar[bool] = True
    finish_operations: ClassVar[int] = 40
    value_operations: ClassVar[int] = 32
    sum_text: ClassVar[str] = "|s - x|"
    term_text: ClassVar[str] = "|s - x| moves by at most what s and x move"
    of_argument_name: ClassVar[str] = "kernel_of_argument"

    @property
    def factor_text(self) -> str:
        """Return p(z) for the C's comments, with the space behind it; "" where it is 1."""
        return ("", "(1 + z) ", "(1 + z + z^2 / 3) ")[self.degree]

    @property
    def has_factor(self) -> bool:
        """Whether p is not 1."""
        return self.degree > 0

    @property
    def has_square(self) -> bool:
        """Whether p has a term in z^2."""
        return self.degree == max(DEGREES)

    def accumulate(self, total: RealArray, x: RealArray, s: RealArray) -> None:
        """Add (x - s)^2 to the total."""
        difference = x - s
        total += difference * difference

    def argument(self, total: RealArray) -> RealArray:
        """Return z = gamma sqrt(total)."""
        z: RealArray = self.gamma * SQUARE_ROOT[self.precision.dtype].of(total)
        return z

    def of_argument(self, z: RealArray) -> RealArray:
        """Return p(z) exp(-z), at most 1."""
        one = self.precision.dtype(1.0)
        z = np.minimum(z, self.exponential.limit)  # p shall not overflow
        value = self.exponential.of(z)
        if self.degree == 1:
            value = (one + z) * value
        elif self.degree == 2:
            value = (one + z * (one + z * self.third)) * value
        at_most_one: RealArray = np.minimum(value, one)
        return at_most_one

    def factor(self, z: float) -> float:
        """Return p(z)."""
        return float(factor(self.degree, np.array(z)))

    @property
    def steepness(self) -> float:
        """Bound on e z k^."""
        return _STEEPNESS[self.degree]

    def largest_intermediate(self, of: Magnitudes) -> float:
        """Return a bound on D^2, and on z and its share of the error."""
        z = float(self.gamma) * math.sqrt(of.distance_squared)
        return max(of.distance_squared, z * self.largest_value(of))
