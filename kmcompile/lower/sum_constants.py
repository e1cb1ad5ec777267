"""The constants of a sum of kernels: its kernel, its intercepts and its error bound."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypedDict

import numpy as np

from kmcompile.kernels.float32 import Float32Kernel, KernelContext
from kmcompile.lower.stored import flushed_norm, relative_error
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array, Real, RealArray
from kmcompile.numeric.rounding import (
    FLOAT32,
    SMALLEST_NORMAL,
    Precision,
    stored_error,
)

RESULT_ROUNDINGS = 4
"""Roundings relative to |f|, counted twice: the addition of the intercept, and the outward rounding
of lower and upper."""


@dataclass(frozen=True, slots=True)
class SumContext:
    """The conditions under which a sum of kernels is lowered: inputs, precision, tables.

    Parameters
    ----------
    typical_deviation : float
        Distance of an ordinary prepared input from the exactly prepared one, at which the bound
        should be tight.
    skip_zeros : bool
        Whether the sum leaves out features of an input that are 0.
    precision : Precision
        Precision of the sum. Vectors and coefficients are float32 in either precision.
    low_parts : bool
        Whether the replay in float64 has tables of low parts of vectors and coefficients
        (`kmcompile.lower.stored`).
    n_roundings : int or None
        Number of roundings of an inner product; None: one for each feature.
    moved_error : float
        Bound on the Euclidean norm of a vector's rounding errors in the passes.
    """

    typical_deviation: float = 0.0
    skip_zeros: bool = False
    precision: Precision = FLOAT32
    low_parts: bool = False
    n_roundings: int | None = None
    moved_error: float = 0.0


@dataclass(frozen=True, slots=True)
class Summation:
    """The order of additions in a decision's sum.

    Parameters
    ----------
    on_the_way : int
        Largest number of roundings that act on a product, with the product's own.
    longest : int
        Largest number of additions that act on one of the errors of a decision.
    n_products : int
        Largest number of products of a decision, with those that fill up blocks.
    n_compensated : int
        Largest number of totals whose sum is compensated (`ExactSum`), or 0.
    """

    on_the_way: int
    longest: int
    n_products: int
    n_compensated: int = 0

    def relative_error(self, precision: Precision, coefficient_error: float) -> float:
        """Return the relative error of a term beta K by its coefficient, product and additions."""
        spread = 1 + 2 * coefficient_error
        squared = 2 * precision.gamma_factor(self.n_compensated) ** 2
        added = precision.gamma_factor(self.on_the_way) + squared
        return added * spread + coefficient_error * spread


class SumConstants(TypedDict):
    """The kernel of a sum, its intercepts and the constants of its bound (`ExactSum`)."""

    kernel: Float32Kernel
    intercept: RealArray
    final_factor: Real
    result_error: Real
    minimum: RealArray
    trivial_bound: Real


def sum_constants(
    machine: KernelMachine,
    vectors: RealArray,
    summation: Summation,
    context: SumContext,
    magnitude: Float64Array | None = None,
) -> SumConstants:
    """Return the constants of a sum of a machine.

    Parameters
    ----------
    vectors : ndarray of shape (n_sv, n_features)
        The stored vectors.
    magnitude : ndarray of shape (n_decisions,), float64, optional
        The largest sum of the magnitudes of a decision's coefficients, by default of all vectors.
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
    if magnitude is None:
        magnitude = np.abs(decision_coefficients(machine)).sum(axis=1)
    magnitude = magnitude * (1 + 1e-9)
    intercept = machine.intercept.astype(precision.dtype)
    # A compensated addition has five operations more that can flush a subnormal result to 0.
    operations = 2 * summation.n_products + 3 * summation.n_compensated + 8
    underflow = 2 * operations * precision.smallest_normal
    # Coefficients below the smallest normal float32 are stored with an absolute error.
    tiny = int(((machine.dual_coef != 0) & (np.abs(machine.dual_coef) < SMALLEST_NORMAL)).sum())
    constant = (
        np.abs(machine.intercept - intercept)
        + machine.intercept_error
        + magnitude * kernel.absolute_error
        + tiny * SMALLEST_NORMAL * kernel.value_bound
        + underflow
    )
    return SumConstants(
        kernel=kernel,
        intercept=intercept,
        final_factor=bound_constant(1 + 2 * gamma_factor(summation.longest + 8)),
        result_error=bound_constant(RESULT_ROUNDINGS * precision.unit_roundoff),
        minimum=precision.bound_constants(constant),
        trivial_bound=bound_constant(float((2 * magnitude + constant).max())),
    )


def squares(vectors: RealArray) -> RealArray:
    """Return |s|^2 of the stored vectors, shape (n_vectors,), rounded once."""
    wide = (vectors.astype(np.float64) ** 2).sum(axis=1)
    stored: RealArray = wide.astype(vectors.dtype)
    return stored
