"""The radial basis function kernel, K(s, x) = exp(-gamma |s - x|^2)."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.kernels.exp_of_sum import ExpNegativeFloat32, UnitReach
from kmcompile.kernels.feature_sums import feature_sums
from kmcompile.kernels.float32 import KernelContext, Magnitudes
from kmcompile.kernels.kernel import Kernel
from kmcompile.kernels.reach import Reach
from kmcompile.numeric.arrays import Bound, Float64Array, Real, RealArray, RealBound
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64, Precision, gamma_factor
from kmcompile.numeric.scalar.functions import EXP_NEGATIVE

_LARGEST_ERROR = 1e-11
"""Relative error of a value up to which float64 may expand squared distances: the float32 bounds
that the reference is held against are some 1e5 times larger."""

_LARGEST_EXPANSION_ERROR = 1e-3
"""Relative error of a typical value up to which float32 may expand squared distances to skip
zeros."""

_LARGEST_SHARE = {np.float32: 2.0**-6, np.float64: 2.0**-10}
"""A larger t would make z_error useless: its product with the exponential's cutoff exceeds 1."""


@dataclass(frozen=True, slots=True)
class Rbf(Kernel):
    """K(s, x) = exp(-gamma |s - x|^2) with gamma > 0."""

    gamma: float

    name: ClassVar[str] = "rbf"
    formula: ClassVar[str] = "K(s, x) = exp(-gamma sum_j (s_j - x_j)^2)"
    self_value: ClassVar[float | None] = 1.0
    positive_definite: ClassVar[bool] = True
    has_reach: ClassVar[bool] = True
    is_gaussian: ClassVar[bool] = True
    has_gradient: ClassVar[bool] = True
    of_distance: ClassVar[bool] = True
    fits_image: ClassVar[bool] = True

    def values(self, support_vectors: Float64Array, X: Float64Array) -> Float64Array:
        """Return exp(-gamma |s_i - x_q|^2), shape (n_queries, n_sv).

        The squared distance is summed from differences: the expanded form
        |s|^2 - 2<s, x> + |x|^2 cancels where data lie far from the origin.
        """
        squares = feature_sums(support_vectors, X, lambda x, s: (x - s) ** 2)
        return np.exp(-self.gamma * squares)

    def lower(self, context: KernelContext) -> RbfFloat32:
        """Return the kernel as the C computes it; `RbfFloat32` derives the constants."""
        n = context.n_features
        expands = context.skip_zeros
        precision = context.precision
        exponential = EXP_NEGATIVE[precision.dtype]
        bound_constant, gamma_factor = precision.bound_constant, precision.gamma_factor
        g = gamma_factor(2 if expands else n + 4)
        # t = e sqrt(gamma) balances the two parts of 2 D e <= t D^2 + e^2 / t at gamma D^2 = 1.
        e = context.vector_error + context.typical_deviation
        t = _share(e * np.sqrt(self.gamma), precision)
        tau = exponential.relative_error
        underflow = self.gamma * (6 * n + 8 if expands else 2 * n) * precision.smallest_normal
        growth = self.gamma * (1 + t) / (1 - tau) if expands else 0.0
        length = context.vector_length
        none = precision.dtype(0.0)
        return RbfFloat32(
            gamma=precision.stored_factor("gamma", self.gamma),
            vector_error=bound_constant(context.vector_error),
            z_error=bound_constant((g + t) / (1 - g) / (1 - tau)),
            shift=bound_constant(self.gamma * (1 + 1 / t) / (1 - tau)),
            shift_minimum=bound_constant(
                2 * underflow + 4 * precision.smallest_normal + growth * gamma_factor(4) * length**2
            ),
            per_reach=bound_constant(growth * gamma_factor(n + 2) / (n + 2)) if expands else none,
            twice_length=bound_constant(2 * length) if expands else none,
            value_error=bound_constant(tau / (1 - tau) + context.sum_error),
        )

    def fast_values(
        self, support_vectors: Float64Array, X: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Return the values from expanded squared distances where these are accurate enough."""
        values, error = self._expanded_values(support_vectors, X)
        slow = ~(error <= _LARGEST_ERROR)  # arithmetic on NaN is slow
        if slow.any():
            values[slow] = self.values(support_vectors, X[slow])
        return values, np.where(slow, 0.0, error)

    def _expanded_values(
        self, support_vectors: Float64Array, X: Float64Array
    ) -> tuple[Float64Array, Float64Array]:
        """Return exp(-gamma (|t|^2 - 2<t, z> + |z|^2)), t = s - c, z = x - c, c the vectors' mean.

        With n features, L = max |t| and R = L + |z|, to first order in u: the subtractions of c
        change |t - z|^2 by at most 2 u R^2; squares and products, sums of n terms in any order, are
        off by n u (|t|^2 + 2 |t| |z| + |z|^2) <= n u R^2 (Higham, eq. 3.5); the two additions by
        2 u R^2. So |D^ - D| <= (n + 4) u R^2 =: a, and the value's relative error is at most
        expm1(gamma a). Twice that covers the higher orders and the bound's own rounding.
        """
        centre = support_vectors.mean(axis=0)
        t, z = support_vectors - centre, X - centre
        with np.errstate(over="ignore", invalid="ignore"):
            t_square, z_square = (t**2).sum(axis=1), (z**2).sum(axis=1)
            values = z @ t.T  # then all in place: these are the largest arrays of a compilation
            values *= 2
            np.subtract(t_square, values, out=values)
            values += z_square[:, None]
            reach = np.sqrt(t_square.max()) + np.sqrt(z_square)
            a = (t.shape[1] + 4) * UNIT_ROUNDOFF_64 * reach**2
            error = 2 * np.expm1(self.gamma * a)
            np.maximum(values, 0.0, out=values)
            values *= -self.gamma
            np.exp(values, out=values)
        return values, error

    def self_values(self, X: Float64Array) -> Float64Array:
        """Return K(x, x) = 1 for every row."""
        return np.ones(len(X))

    def sums_nonzeros(self, support_vectors: Float64Array) -> bool:
        """Return whether the expanded distance |s|^2 + |x|^2 - 2 <s, x> is accurate enough.

        Where data lie far from 0 and close together, the expanded distance cancels. The C then sums
        squared differences. The error of gamma |s - x|^2 is about gamma gamma_(m + 2) 3 S^2, for an
        input as long as the longest vector (S) and with as many nonzeros (m).
        """
        square = float((support_vectors**2).sum(axis=1).max())
        most = int(np.count_nonzero(support_vectors, axis=1).max())
        error = self.gamma * gamma_factor(most + 2) * 3 * square
        return error <= _LARGEST_EXPANSION_ERROR

    @property
    def gaussian_gamma(self) -> float:
        """gamma."""
        return self.gamma

    @property
    def slope(self) -> float:
        """sqrt(gamma), which is above sqrt(2 gamma / e)."""
        return math.sqrt(self.gamma)

    def of_gamma_times(self, share: float) -> Rbf:
        """Return the kernel of gamma times share."""
        return Rbf(self.gamma * share)

    def gradient(self, Z: Float64Array, X: Float64Array, C: Float64Array) -> Float64Array:
        """Return dK/dz = 2 gamma K (x - z), weighted."""
        squares = (Z * Z).sum(axis=1)[:, None] - 2 * (Z @ X.T) + (X * X).sum(axis=1)
        weighted = C * (2 * self.gamma) * np.exp(-self.gamma * np.maximum(squares, 0.0))
        result: Float64Array = weighted @ X - weighted.sum(axis=1)[:, None] * Z
        return result

    def reach(self, context: KernelContext) -> RbfReach:
        """Return 1 and the largest error."""
        return RbfReach.of_kernel(self.lower(context))

    def in_code_units(self, factor: float) -> Rbf:
        """Return the kernel for coordinates times `factor`: gamma becomes gamma / factor^2."""
        return replace(self, gamma=self.gamma / factor / factor)


def _share(t: float, precision: Precision) -> float:
    """Return the share t, limited to its useful range for a precision."""
    return float(np.clip(t, precision.unit_roundoff, _LARGEST_SHARE[precision.dtype]))


class SquareGrowth:
    """The part of the error of z that is not relative to it, as `RbfFloat32` derives it.

    It is no dataclass: those that inherit from it declare its attributes again, as fields.
    """

    shift: Real
    shift_minimum: RealBound
    per_reach: RealBound
    twice_length: RealBound

    @property
    def expands(self) -> bool:
        """Whether D^2 is expanded and comes from an inner product."""
        return bool(self.per_reach > 0)

    def growth(self, batch: Batch, spread: RealArray) -> RealArray:
        """Return what z may be off by for spreads e, its relative error aside."""
        growth: RealArray = self.shift * spread * spread + self.shift_minimum
        if self.expands:
            roundings = (np.count_nonzero(batch.x, axis=1) + 2).astype(batch.length.dtype)
            reach = batch.length * (batch.length + self.twice_length)
            growth += (self.per_reach * roundings) * reach
        return growth


@dataclass(frozen=True, slots=True, eq=False)
class RbfReach(SquareGrowth, UnitReach):
    """The reach for rbf (`UnitReach`), with the `shift` of `RbfFloat32` for exact vectors.

    Where zeros are skipped and squared distances expanded, `RbfFloat32` has a further error in
    `shift`, per_reach (m + 2) X (X + 2 Z), with m the nonzero features of x, X >= |x| and Z the
    longest |z|.

    Parameters
    ----------
    shift, shift_minimum, widest, per_z, value_error : float32
    per_reach, twice_length : float32
        Of the expanded distance, as in `RbfFloat32`; per_reach is 0 where there is none.
    """

    shift: np.float32
    shift_minimum: Bound
    widest: Bound
    per_z: Bound
    value_error: Bound
    per_reach: Bound
    twice_length: Bound

    name: ClassVar[str] = "rbf_reach"

    @classmethod
    def of_kernel(cls, kernel: RbfFloat32) -> RbfReach:
        """Return the reach of a lowered kernel, for exact vectors."""
        errors = kernel.largest_errors()
        return cls(
            kernel.shift, kernel.shift_minimum, *errors, kernel.per_reach, kernel.twice_length
        )


@dataclass(frozen=True, slots=True, eq=False)
class RbfFloat32(SquareGrowth, ExpNegativeFloat32):
    """exp(-gamma |s - x|^2) as the C computes it, with its error.

    Let s^, x^ be the stored vector and input, D = |s^ - x^|, e >= |s - s^| + |x - x^| and z^ the
    computed gamma D^2.

    - Differences (twice, being squared), product, n_features - 1 additions, the stored gamma
      and the last product: z^ = gamma D^2 (1 + theta), |theta| <= g = gamma_(n_features + 4)
      (Higham, Lemma 3.1).
    - | |s - x|^2 - D^2 | <= 2 D e + e^2 <= t D^2 + (1 + 1/t) e^2 for any t > 0.
    - So the exact z = gamma |s - x|^2 has |z - z^| <= y = z_error z^ + shift, with
      z_error = (g + t) / (1 - g), shift = gamma (1 + 1/t) e^2 + underflow.
    - k^ = exp(-z^) (1 + tau'), |tau'| <= tau. For y <= 1: exp(y) - 1 <= y (1 + y), so
      |k - k^| <= k^ [tau + y (1 + y_max)] / (1 - tau), y_max = z_error cutoff + shift.
    - From the cutoff on, k^ = 0 and k <= exp(y_max - cutoff); the sum's constant error covers it.
    - Where y_max > 1, none of these bounds is usable. The sum then takes the trivial 0 < k <= 1.

    Where zeros are skipped, D^2 = max(0, (|s^|^2 + |x^|^2) - 2 <s^, x^>) is expanded. Let m of the
    features of x^ be nonzero, S >= |s^|, X >= |x^|. Adding a product that is 0 is exact, so
    (Higham, Lemma 3.1) the roundings that a term passes, each at most a factor 1 + u, are

    - |s^|^2: storage, the addition and the subtraction, one more for float64's sum: 4;
    - |x^|^2: a product, m - 1 additions to the first, the addition, the subtraction: m + 2;
    - 2 <s^, x^>: a product, m - 1 additions, the subtraction (doubling is exact): m + 1.

    The maximum only brings D^2 closer. With sum_j |s^_j x^_j| <= S X, D^2 is off by at most
    a = gamma_4 S^2 + gamma_(m + 2) X (X + 2 S). The stored gamma and the last product round
    z^ = gamma (D^2 + a') (1 + theta), |a'| <= a, |theta| <= gamma_2 =: g, so that gamma D^2 <=
    z^ / (1 - g) + gamma a and |z - z^| <= z_error z^ + shift + (1 + t) gamma a.

    Parameters
    ----------
    gamma, vector_error, z_error, shift, shift_minimum, value_error : float32 or float64
    per_reach : float32 or float64
        >= (1 + t) gamma gamma_(m + 2) / (m + 2) for every m; 0 where D^2 is summed directly.
    twice_length : float32 or float64
        >= 2 S.
    """

    gamma: Real
    vector_error: RealBound
    z_error: RealBound
    shift: Real
    shift_minimum: RealBound
    value_error: RealBound
    per_reach: RealBound
    twice_length: RealBound

    name: ClassVar[str] = "rbf"
    reach_class: ClassVar[type[Reach]] = RbfReach
    uses_distance: ClassVar[bool] = True
    is_gaussian: ClassVar[bool] = True
    finish_operations: ClassVar[int] = 24
    value_operations: ClassVar[int] = 16
    value_bound: ClassVar[float] = 1.0

    def accumulate(self, total: RealArray, x: RealArray, s: RealArray) -> None:
        """Add (x - s)^2 to the total."""
        difference = x - s
        np.multiply(difference, difference, out=difference)
        total += difference

    def largest_intermediate(self, of: Magnitudes) -> float:
        """Return a bound on z and on its share of the error."""
        # Of an expanded distance, |s|^2 + |x|^2 and 2 <s, x> are at most the largest |s - x|^2,
        # X (X + 2 S) at most twice it.
        widest = 4 * of.distance_squared if self.expands else of.distance_squared
        z = max(1.0, float(self.gamma)) * widest
        return z * max(1.0, self.largest_value(of))
