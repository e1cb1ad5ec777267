"""Lowering of a routed rbf machine with codes to its sum over a leaf in fixed-point integers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.lower.coded_polynomial_sum import multiply_add_weight
from kmcompile.lower.codes import Coded
from kmcompile.lower.fixed_leaf_parts import (
    half_codes,
    largest_linear,
    lower_fixed_linear,
    lower_fixed_pairs,
    pair_coefficients,
    pair_sums,
)
from kmcompile.lower.fixed_point import (
    RESULT_ROUNDINGS,
    coefficient_step,
    exponent_scale,
    relative_error,
    result_shift_of,
    starts_of,
)
from kmcompile.lower.fixed_route import MOST_FEATURES, lower_fixed_route
from kmcompile.lower.leaf_errors import leaf_errors
from kmcompile.lower.own_pairs import lower_own_pairs, own_terms, own_values
from kmcompile.lower.routed_sum import refuse_more
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF, bound_constant, bound_constants
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.program.stages.leaves.gamma_scales import GammaScales
from kmcompile.program.stages.leaves.own_pairs import OwnPairs
from kmcompile.program.stages.leaves.routed_fixed_sum import RoutedFixedSum
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.target import Target

_ALIKE = 2.0
"""Where no leaf has a bound of more than so many times the median's, one constant is for all."""


def lower_routed_fixed_sum(coded: Coded, target: Target, wide_coefficients: bool) -> RoutedFixedSum:
    """Return the stage of a routed rbf machine with codes.

    Parameters
    ----------
    coded : Coded
    target : Target
    wide_coefficients : bool
        Whether coefficients have 32 bits instead of 16.

    Raises
    ------
    InputError
        If the tables cannot index so many choices, vectors or features.
    """
    machine = coded.machine
    routing = machine.routing
    assert routing is not None
    vectors, slots = np.unique(coded.codes, axis=0, return_inverse=True)
    _require_indices(len(vectors), routing, machine.n_features)
    farthest = int(_farthest(vectors, coded))
    scales, rho = _scales(coded, routing, farthest)
    intercepts = machine.intercept + routing.intercepts
    step = _step(coded, routing, np.abs(intercepts), 31 if wide_coefficients else 15)
    stored = np.rint(coded.fitted.dual_coef / step) * step
    of_pairs = pair_coefficients(routing, machine.n_decisions)
    pairs = np.rint(of_pairs / step) * step
    unit = step * 2.0**-exp2_fixed.RESULT_BITS
    start = starts_of(intercepts, unit)
    weight = multiply_add_weight(target)
    linear = lower_fixed_linear(coded, routing, unit, weight)
    errors = leaf_errors(coded, routing, stored, (of_pairs, pairs))
    single, double = _leaf_sums(stored, routing), pair_sums(pairs, routing)
    largest = single + double + linear.largest
    most = np.array([float(largest.max()) / step])
    shift = result_shift_of(start, most, int(routing.leaf_sizes.max()))
    result = float(np.ldexp(unit, shift))
    # A product of kernels has the errors of both.
    shifted = (single + 2 * double) * exp2_fixed.SHIFT_ERROR * (1 + 1e-6)
    minimum = errors.apart + linear.apart + shifted + _rounded(routing, unit, result)
    along = errors.per_deviation + linear.per_deviation
    apart = 2 * (float((largest + np.abs(intercepts)).max()) + result) + float(minimum.max())
    most_along = float(along.max())
    if routing.has_pairs:
        rho = rho * (2 + rho)
    coefficients = np.rint(stored.T / step).astype(np.int32)
    if own_pairs := lower_own_pairs(machine, routing):
        coefficients = own_terms(coefficients.T, routing, own_pairs)
        start = own_values(start, own_pairs)
    minimum, along = _rows(coded, minimum, along, own_pairs)
    return RoutedFixedSum(
        route=lower_fixed_route(coded, routing, weight),
        codes=CodeRange(machine.n_features, coded.width, coded.low, coded.high),
        per_unit=np.float32(1 / coded.unit),
        vectors=vectors,
        wide=farthest + 1 >= 1 << 32,
        scales=scales,
        slots=slots.reshape(-1).astype(np.uint16),
        coefficients=coefficients,
        leaf_ends=routing.leaf_ends.astype(np.uint32),
        start=start,
        result_shift=shift,
        result_scale=np.float32(result),
        value_error=bound_constant(rho / (1 - rho)),
        result_error=bound_constant(RESULT_ROUNDINGS * UNIT_ROUNDOFF),
        per_deviation=bound_constants(along),
        minimum=bound_constants(minimum),
        # Two differences, two sums, the mean and the product round once each.
        mean_factor=bound_constant(1 + 16 * UNIT_ROUNDOFF),
        # What another leaf's decision is off by, beside what any two leaves are apart.
        apart=bound_constant(apart),
        apart_per_deviation=bound_constant(most_along),
        linear=linear.stage,
        pairs=lower_fixed_pairs(pairs, routing, step),
        own_pairs=own_pairs,
    )


def _require_indices(n_vectors: int, routing: Routing, n_features: int) -> None:
    """Raise InputError if the tables cannot index so many vectors, choices or features."""
    refuse_more("different support vectors", n_vectors)
    refuse_more("choices and leaves of the route", routing.n_choices + routing.n_leaves)
    if n_features > MOST_FEATURES:
        raise InputError(
            f"{n_features} features, must be at most {MOST_FEATURES} in integers\n"
            "use --format float32"
        )


def _rounded(routing: Routing, unit: float, result: float) -> Float64Array:
    """Return the rounding of intercepts and of a vector's products, and the result's truncation."""
    of_leaves = routing.leaf_sizes[:, None].astype(np.float64)
    rounded: Float64Array = unit / 2 + routing.has_pairs * unit * (1.0 + of_leaves) + result
    return rounded


def _rows(
    coded: Coded, minimum: Float64Array, along: Float64Array, own_pairs: OwnPairs | None
) -> tuple[Float64Array, Float64Array]:
    """Return the two parts of the bounds: a row a leaf, or one row where the leaves are alike."""
    rows = minimum, along
    if own_pairs:
        rows = own_values(minimum, own_pairs), own_values(along, own_pairs)
    if _differ(rows[0] + rows[1] * half_codes(coded)):
        return rows
    return minimum.max(axis=0, keepdims=True), along.max(axis=0, keepdims=True)


def _differ(bounds: Float64Array) -> bool:
    """Return whether the bounds of the leaves differ so much that each leaf shall have its own."""
    typical = np.median(bounds, axis=0)
    return len(bounds) > 1 and bool((bounds.max(axis=0) > _ALIKE * typical).any())


def _farthest(vectors: NDArray[np.int64], coded: Coded) -> int:
    """Return a bound on |s - x|^2 of the codes."""
    apart = np.maximum(coded.high - vectors, vectors - coded.low)
    return int((apart**2).sum(axis=1).max(initial=0))


def _scales(coded: Coded, routing: Routing, farthest: int) -> tuple[GammaScales, float]:
    """Return the constants of all gammas, and the largest relative error of a kernel."""
    gamma = coded.machine.kernel.gaussian_gamma
    relative, of_slots = np.unique(routing.relative_gamma, return_inverse=True)
    refuse_more("different gammas", len(relative))
    gammas = [gamma * float(share) * coded.unit**2 for share in relative]
    scales = [exponent_scale(gamma, farthest) for gamma in gammas]
    rho = max(relative_error(s, gamma) for s, gamma in zip(scales, gammas, strict=True))
    return GammaScales(
        distance_shifts=np.array([scale.distance_shift for scale in scales], dtype=np.uint8),
        multipliers=np.array([scale.multiplier for scale in scales], dtype=np.uint32),
        product_shifts=np.array([scale.product_shift for scale in scales], dtype=np.uint8),
        cutoffs=np.array([scale.cutoff for scale in scales], dtype=np.uint64),
        of_slots=(of_slots.reshape(-1) if len(relative) > 1 else of_slots[:0]).astype(np.uint16),
    ), rho


def _leaf_sums(coefficients: Float64Array, routing: Routing) -> Float64Array:
    """Return the sums of magnitudes of a leaf's coefficients, shape (n_leaves, n_decisions)."""
    size = np.abs(coefficients)
    sums = [size[:, routing.members(leaf)].sum(axis=1) for leaf in range(routing.n_leaves)]
    return np.array(sums) * (1 + 1e-9)


def _step(coded: Coded, routing: Routing, intercepts: Float64Array, bits: int) -> float:
    """Return the unit of the coefficients of so many bits and a sign."""
    single = coded.fitted.dual_coef
    pairs = pair_coefficients(routing, len(single))
    sums = _leaf_sums(single, routing) + pair_sums(pairs, routing)
    sums = sums + intercepts + largest_linear(coded, routing)
    most = int(routing.leaf_sizes.max())
    n_pairs = most * (most + 1) // 2 if routing.has_pairs else 0
    return coefficient_step(
        max(float(np.abs(single).max(initial=0.0)), float(np.abs(pairs).max(initial=0.0))),
        float(sums.max()),
        # Half a step for each coefficient, and another for all roundings of weights.
        most + n_pairs + 1,
        bits,
    )
