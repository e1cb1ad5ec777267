"""Lowering of a routed rbf machine with codes to its sum over a leaf in fixed-point integers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.kernels import Rbf
from kmcompile.lower.coded_polynomial_sum import multiply_add_weight
from kmcompile.lower.codes import Coded
from kmcompile.lower.feature_space import VectorPairs, distance
from kmcompile.lower.fixed_point import (
    RESULT_ROUNDINGS,
    coefficient_step,
    exponent_scale,
    relative_error,
    result_shift_of,
)
from kmcompile.lower.routed_sum import refuse_more, score_differences, with_two_choices
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import (
    UNIT_ROUNDOFF,
    UNIT_ROUNDOFF_64,
    bound_constant,
    bound_constants,
    stored_error,
)
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.program.stages.code_range import CodeRange
from kmcompile.program.stages.fixed_route import FixedRoute
from kmcompile.program.stages.routed_fixed_sum import RoutedFixedSum
from kmcompile.target import Target

_MOST_FEATURES = 1 << 13
"""So that no score exceeds 2^59, whatever a damaged table of weights holds."""

_LARGEST_SCORE = 2.0**59
_WORD = (1 << 31) - 1


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
    routing, kernel = machine.routing, machine.kernel
    assert routing is not None
    assert isinstance(kernel, Rbf)
    vectors, slots = np.unique(coded.codes, axis=0, return_inverse=True)
    refuse_more("different support vectors", len(vectors))
    refuse_more("choices and leaves of the route", routing.n_choices + routing.n_leaves)
    if machine.n_features > _MOST_FEATURES:
        raise InputError(
            f"{machine.n_features} features, must be at most {_MOST_FEATURES} in integers\n"
            "use --format float32"
        )
    farthest = int(_farthest(vectors, coded))
    scale = exponent_scale(kernel.gamma * coded.unit**2, farthest)
    rho = relative_error(scale, kernel.gamma * coded.unit**2)
    intercepts = machine.intercept + routing.intercepts
    step = _step(coded, routing, intercepts, wide_coefficients)
    stored = np.rint(coded.fitted.dual_coef / step) * step
    unit = step * 2.0**-exp2_fixed.RESULT_BITS
    start = np.stack(
        [np.rint(np.maximum(sign * intercepts, 0.0) / unit) for sign in (1, -1)], axis=2
    ).astype(np.uint64)
    errors = _leaf_errors(coded, routing, stored)
    most = errors.size.max() / step
    shift = result_shift_of(start, np.array([most]), int(routing.leaf_sizes.max()))
    result = float(np.ldexp(unit, shift))
    # The intercept is rounded, the result truncated.
    minimum = errors.apart + errors.size * exp2_fixed.SHIFT_ERROR * (1 + 1e-6) + unit / 2 + result
    largest = float((errors.size + np.abs(intercepts)).max()) + result
    return RoutedFixedSum(
        route=_lower_route(coded, routing, multiply_add_weight(target)),
        codes=CodeRange(machine.n_features, coded.width, coded.low, coded.high),
        per_unit=np.float32(1 / coded.unit),
        vectors=vectors,
        wide=farthest + 1 >= 1 << 32,
        distance_shift=scale.distance_shift,
        multiplier=scale.multiplier,
        product_shift=scale.product_shift,
        cutoff=scale.cutoff,
        slots=slots.reshape(-1).astype(np.uint16),
        coefficients=np.rint(stored.T / step).astype(np.int32),
        leaf_ends=routing.leaf_ends.astype(np.uint32),
        start=start,
        result_shift=shift,
        result_scale=np.float32(result),
        value_error=bound_constant(rho / (1 - rho)),
        result_error=bound_constant(RESULT_ROUNDINGS * UNIT_ROUNDOFF),
        per_deviation=bound_constants(errors.per_deviation.max(axis=0)),
        minimum=bound_constants(minimum.max(axis=0)),
        # Two differences, two sums, the mean and the product round once each.
        mean_factor=bound_constant(1 + 16 * UNIT_ROUNDOFF),
        apart=bound_constant(2 * largest),
    )


def _farthest(vectors: NDArray[np.int64], coded: Coded) -> int:
    """Return a bound on |s - x|^2 of the codes."""
    apart = np.maximum(coded.high - vectors, vectors - coded.low)
    return int((apart**2).sum(axis=1).max(initial=0))


def _step(coded: Coded, routing: Routing, intercepts: Float64Array, wide: bool) -> float:
    """Return the unit of the coefficients; one bit is their sign."""
    magnitudes = np.abs(coded.fitted.dual_coef)
    sums = [magnitudes[:, routing.members(leaf)].sum(axis=1) for leaf in range(routing.n_leaves)]
    return coefficient_step(
        float(magnitudes.max(initial=0.0)),
        float((np.array(sums) + np.abs(intercepts)).max()),
        int(routing.leaf_sizes.max()),
        31 if wide else 15,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _LeafErrors:
    """What the stored numbers of the leaves do to decisions, each of shape (n_leaves, n_decisions).

    Parameters
    ----------
    apart : ndarray
        How far the decision of the codes is from the trained one of the same input.
    per_deviation : ndarray
        The change of a decision for each unit of distance between input and codes.
    size : ndarray
        The sum of the magnitudes of the stored coefficients.
    """

    apart: Float64Array
    per_deviation: Float64Array
    size: Float64Array


def _leaf_errors(coded: Coded, routing: Routing, stored: Float64Array) -> _LeafErrors:
    """Return the errors as `lower_fixed_sum` does for a whole machine."""
    machine = coded.machine
    assert isinstance(machine.kernel, Rbf)
    gamma = machine.kernel.gamma
    rounded = coded.codes.astype(np.float64) * coded.unit
    pairs = VectorPairs(gamma, machine.support_vectors, rounded)
    moved = coded.moved_error
    if coded.lossless:
        moved += stored_error(pairs.trained, pairs.stored)
        pairs = replace(pairs, trained=rounded)
    root = math.sqrt(2 * gamma) * (1 + 1e-12)
    shape = (routing.n_leaves, machine.n_decisions)
    apart, along, size = (np.zeros(shape) for _ in range(3))
    for leaf in range(routing.n_leaves):
        own = np.arange(len(rounded))[routing.members(leaf)]
        if not len(own):
            continue
        trained = machine.dual_coef[:, own]
        far = distance(pairs.chosen(own), trained, stored[:, own])
        apart[leaf] = far.apart + np.abs(trained).sum(axis=1) * root * moved
        along[leaf] = far.length * root
        size[leaf] = np.abs(stored[:, own]).sum(axis=1) * (1 + 1e-9)
    return _LeafErrors(apart, along, size)


def _lower_route(coded: Coded, routing: Routing, weight: int) -> FixedRoute:
    """Return the route with integer weights, each node's first choice subtracted from the others.

    A score is <w, x> - t in steps: one step is `step` of a weight times the unit of a code.
    """
    routing = with_two_choices(routing)
    _, weights, offsets = score_differences(routing)
    most = max(-coded.low, coded.high)
    sums = np.abs(weights).sum(axis=1).max()
    least = max(
        float(np.abs(weights).max()) / _WORD,
        sums * most / _LARGEST_SCORE,
        float(np.abs(offsets).max()) / coded.unit / _LARGEST_SCORE,
        2.0**-60,
    )
    step = 2.0 ** math.ceil(math.log2(least))
    whole = np.rint(weights / step)
    far = offsets / (step * coded.unit)
    shift = max(0, math.ceil(math.log2(max(1.0, float(np.abs(far).max())) / _WORD)))
    of_offsets = np.rint(far / 2.0**shift)
    # The subtractions in float64 are off by 2^-53 of their operands, a moved weight, too.
    wide = float(np.abs(routing.weights).sum(axis=1).max()) * most
    wide += float(np.abs(routing.offsets).max()) / coded.unit
    rounded = 8 * UNIT_ROUNDOFF_64 * wide + 2 * coded.routing_error / coded.unit
    off = np.abs(weights / step - whole).sum(axis=1).max() * most
    off += np.abs(far - of_offsets * 2.0**shift).max() + rounded / step
    norm = float(np.sqrt((weights**2).sum(axis=1)).max()) * (1 + 1e-12)
    targets = np.where(routing.targets >= 0, routing.targets, routing.n_nodes - 1 - routing.targets)
    return FixedRoute(
        weights=whole.astype(np.int32),
        offsets=of_offsets.astype(np.int32),
        node_ends=routing.node_ends.astype(np.uint16),
        targets=targets.astype(np.uint16),
        offset_shift=shift,
        per_unit=np.float32(1 / coded.unit),
        per_deviation=bound_constant(2 * norm / (step * coded.unit)),
        minimum=bound_constant(2 * off * (1 + 1e-9)),
        weight=weight,
    )
