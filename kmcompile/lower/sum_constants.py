"""What a sum of kernels needs besides its vectors and coefficients: constants of its errors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.kernels.float32 import Float32Kernel, KernelContext
from kmcompile.lower.stored import flushed_norm, relative_error
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Real, RealArray
from kmcompile.numeric.rounding import FLOAT32, SMALLEST_NORMAL, Precision, stored_error

RESULT_ROUNDINGS = 4
"""Of |f|: the addition of the intercept and the outward rounding of lower and upper, twice."""


@dataclass(frozen=True, slots=True)
class SumContext:
    """What a sum of kernels is lowered for.

    Parameters
    ----------
    typical_deviation : float
        Of a prepared input from the exactly prepared one: where the bound should be tight.
    skip_zeros : bool
        Whether features of an input that are 0 are left out.
    precision : Precision
        Of the sum. Vectors and coefficients are float32 in either precision.
    low_parts : bool
        Whether float64 has what vectors and coefficients leave off in float32, in tables of its
        own (`kmcompile.lower.stored`).
    n_roundings : int or None
        Of an inner product; None: one a feature.
    moved_error : float
        What a pass has rounded in a vector: a bound on the Euclidean norm.
    """

    typical_deviation: float = 0.0
    skip_zeros: bool = False
    precision: Precision = FLOAT32
    low_parts: bool = False
    n_roundings: int | None = None
    moved_error: float = 0.0


@dataclass(frozen=True, slots=True)
class Summation:
    """How a decision's products are added.

    Parameters
    ----------
    on_the_way : int
        Roundings that a product passes, its own one included.
    longest : int
        Additions on the longest way of a decision's errors.
    n_products : int
        Of a decision, at most; those that fill up blocks included.
    """

    on_the_way: int
    longest: int
    n_products: int

    def relative_error(self, precision: Precision, coefficient_error: float) -> float:
        """Return the relative error, per kernel value, of coefficient, product and additions."""
        spread = 1 + 2 * coefficient_error
        return precision.gamma_factor(self.on_the_way) * spread + coefficient_error * spread


@dataclass(frozen=True, slots=True, eq=False)
class SumConstants:
    """The kernel of a sum, its intercepts and the constants of its bound (`ExactSum`)."""

    kernel: Float32Kernel
    intercept: RealArray
    final_factor: Real
    result_error: Real
    minimum: RealArray
    trivial_bound: Real


def sum_constants(
    machine: KernelMachine, vectors: RealArray, summation: Summation, context: SumContext
) -> SumConstants:
    """Return the constants of a sum of a machine.

    Parameters
    ----------
    vectors : ndarray of shape (n_sv, n_features)
        As they are stored.
    summation : Summation
    context : SumContext
    """
    precision = context.precision
    bound_constant, gamma_factor = precision.bound_constant, precision.gamma_factor
    coefficient_error = relative_error(machine.dual_coef, precision, context.low_parts)
    of_kernel = KernelContext(
        n_features=context.n_roundings or vectors.shape[1],
        vector_error=stored_error(machine.support_vectors, vectors)
        + flushed_norm(vectors)
        + context.moved_error,
        vector_length=float(np.sqrt((vectors.astype(np.float64) ** 2).sum(axis=1)).max()),
        typical_deviation=context.typical_deviation,
        sum_error=summation.relative_error(precision, coefficient_error),
        skip_zeros=context.skip_zeros,
        precision=precision,
    )
    kernel = machine.kernel.lower(of_kernel)
    magnitude = np.abs(decision_coefficients(machine)).sum(axis=1) * (1 + 1e-9)
    intercept = machine.intercept.astype(precision.dtype)
    underflow = (2 * summation.n_products + 8) * 2 * precision.smallest_normal
    # Coefficients below the normal float32 are stored with an absolute error.
    tiny = int(((machine.dual_coef != 0) & (np.abs(machine.dual_coef) < SMALLEST_NORMAL)).sum())
    constant = (
        np.abs(machine.intercept - intercept)
        + magnitude * kernel.absolute_error
        + tiny * SMALLEST_NORMAL * kernel.value_bound
        + underflow
    )
    return SumConstants(
        kernel,
        intercept,
        bound_constant(1 + 2 * gamma_factor(summation.longest + 8)),
        bound_constant(RESULT_ROUNDINGS * precision.unit_roundoff),
        precision.bound_constants(constant),
        bound_constant(float((2 * magnitude + constant).max())),
    )


def squares(vectors: RealArray) -> RealArray:
    """Return |s|^2 of the stored vectors, shape (n_vectors,), rounded once."""
    wide = (vectors.astype(np.float64) ** 2).sum(axis=1)
    stored: RealArray = wide.astype(vectors.dtype)
    return stored
