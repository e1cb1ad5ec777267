"""Kernels exp(-gamma D), D a sum of nonnegative terms, one a feature: laplacian and chi2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from kmcompile.kernels.exp_of_sum import ExpNegativeFloat32, UnitReach
from kmcompile.kernels.float32 import KernelContext, Magnitudes
from kmcompile.kernels.reach import Reach
from kmcompile.numeric.arrays import Bound, Real, RealArray, RealBound
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.scalar.functions import EXP_NEGATIVE


class LinearGrowth:
    """The part of the error of z that is not relative to it, for laplacian and chi2.

    It is no dataclass: those that inherit from it declare its attributes again, as fields.
    """

    slope: Real
    shift_minimum: RealBound

    def growth(self, batch: Batch, spread: RealArray) -> RealArray:
        """Return what z may be off by for spreads e, its relative error aside."""
        growth: RealArray = self.slope * spread + self.shift_minimum
        return growth


@dataclass(frozen=True, slots=True, eq=False)
class ExponentialReach(LinearGrowth, UnitReach):
    """The reach for laplacian and chi2 (`UnitReach`): shift = slope deviation + shift_minimum.

    Parameters
    ----------
    slope, shift_minimum, widest, per_z, value_error : float32
    """

    slope: np.float32
    shift_minimum: Bound
    widest: Bound
    per_z: Bound
    value_error: Bound

    name: ClassVar[str] = "exponential_reach"
    value_text: ClassVar[str] = "exp(-z)"
    product_text: ClassVar[str] = "z exp(-z) <= 1 / e"
    per_z_text: ClassVar[str] = "divided by e"

    @classmethod
    def of_kernel(cls, kernel: ExponentialFloat32) -> Self:
        """Return the reach of a lowered kernel, for exact vectors."""
        return cls(kernel.slope, kernel.shift_minimum, *kernel.largest_errors())


@dataclass(frozen=True, slots=True, eq=False)
class ExponentialFloat32(LinearGrowth, ExpNegativeFloat32):
    """exp(-gamma D), D = sum_j t(s_j, x_j), t >= 0, as the C computes it, with its error.

    Let s^, x^ be the stored vector and input, n the features, D^ = D(s^, x^) and z^ the computed
    gamma D^. A term has `roundings` roundings relative to itself and moves by at most `steepest`
    times what s_j and x_j move.

    - Terms, n - 1 additions of numbers that are 0 or more, the stored gamma and the last product:
      z^ = gamma D^ (1 + theta), |theta| <= g = gamma_(roundings + n + 1) (Higham, Lemma 3.1).
    - With e >= |s - s^| + |x - x^|: |D - D^| <= steepest sum_j (|s_j - s^_j| + |x_j - x^_j|)
      <= steepest sqrt(n) e.
    - So the exact z = gamma D has |z - z^| <= y = z_error z^ + shift, with z_error = g / (1 - g),
      shift = gamma steepest sqrt(n) e + underflow.
    - k^ = exp(-z^) (1 + tau'), |tau'| <= tau. For y <= 1: exp(y) - 1 <= y (1 + y), so
      |k - k^| <= k^ [tau + y (1 + y_max)] / (1 - tau), y_max = z_error cutoff + shift.
    - From the cutoff on, k^ = 0 and k <= exp(y_max - cutoff); the sum's constant error covers it.
    - Where y_max > 1, none of these bounds is usable. The sum then takes the trivial 0 < k <= 1.

    Parameters
    ----------
    gamma, vector_error, z_error, slope, shift_minimum, value_error : float32 or float64
        slope >= gamma steepest sqrt(n) / (1 - tau).
    """

    gamma: Real
    vector_error: RealBound
    z_error: RealBound
    slope: Real
    shift_minimum: RealBound
    value_error: RealBound

    reach_class: ClassVar[type[Reach]] = ExponentialReach
    finish_operations: ClassVar[int] = 24
    value_operations: ClassVar[int] = 16
    value_bound: ClassVar[float] = 1.0

    sum_text: ClassVar[str]
    """The sum D in words, for the C's comments."""
    z_text: ClassVar[str] = "gamma D"
    """z in words, for the C's comments."""
    term_text: ClassVar[str]
    """How far a term moves, in words, for the C's comments."""
    of_argument_name: ClassVar[str]
    """The C's function of z without the prefix, where z has a function of its own."""
    roundings: ClassVar[int]
    underflows: ClassVar[int]
    """Number of operations of a term and its addition that can underflow; each changes D by at most
    2^-126."""
    steepest: ClassVar[float]

    @classmethod
    def of(cls, gamma: float, context: KernelContext) -> Self:
        """Return the kernel with the constants of its error."""
        n, precision = context.n_features, context.precision
        slope = gamma * cls.steepest * np.sqrt(n)
        underflow = (gamma * (cls.underflows * n) + 1) * precision.smallest_normal
        g = precision.gamma_factor(cls.roundings + n + 1)
        return cls.with_errors(context, g, slope, underflow, gamma=gamma)

    @classmethod
    def with_errors(
        cls,
        context: KernelContext,
        g: float,
        slope: float,
        underflow: float,
        tau: float = 0.0,
        *,
        gamma: float,
        **own: Any,
    ) -> Self:
        """Return the kernel with the constants that follow from the errors of z and of the value.

        Parameters
        ----------
        context : KernelContext
        g : float
            Relative error of z among stored vectors and inputs.
        slope : float
            How far z moves per unit of e.
        underflow : float
            What underflow moves z by.
        tau : float
            Relative error of a value of z; 0 stands for that of the exponential alone.
        gamma : float
        **own
            Further fields of the class.
        """
        precision = context.precision
        bound_constant = precision.bound_constant
        tau = tau or EXP_NEGATIVE[precision.dtype].relative_error
        return cls(
            gamma=precision.stored_factor("gamma", gamma),
            vector_error=bound_constant(context.vector_error),
            z_error=bound_constant(g / (1 - g) / (1 - tau)),
            slope=bound_constant(slope / (1 - tau)),
            shift_minimum=bound_constant(2 * underflow + 4 * precision.smallest_normal),
            value_error=bound_constant(tau / (1 - tau) + context.sum_error),
            **own,
        )

    @property
    def moves_with_z(self) -> bool:
        """Whether the relative error of z has a part `z_slope` per unit of e."""
        return False

    @property
    def steepest_z(self) -> float:
        """How fast y_max grows with e."""
        return float(self.slope)

    @property
    def usable_deviation(self) -> float:
        """Largest deviation of the input with y_max at most 1; negative if there is none."""
        room = 1.0 - float(self.z_error * self.exponential.limit) - float(self.shift_minimum)
        # The rounding in `query_terms` is smaller.
        return (room / self.steepest_z) * (1 - 2.0**-18) - float(self.vector_error)

    def largest_intermediate(self, of: Magnitudes) -> float:
        """Return a bound on z and on its share of the error."""
        return max(1.0, float(self.gamma)) * of.feature_sum * self.largest_value(of)
