"""Lowering of a routed machine to the sum over the vectors of a query's leaf, in float32."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.lower.leaf_parts import error_weights, lower_linear_part, lower_products
from kmcompile.lower.own_pairs import lower_own_pairs, own_terms, own_values
from kmcompile.lower.stored import flushed_norm
from kmcompile.lower.sum_constants import SumContext, Summation, sum_constants
from kmcompile.lower.sums import lower_sum
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.rounding import (
    FLOAT32,
    SMALLEST_NORMAL,
    UNIT_ROUNDOFF,
    UNIT_ROUNDOFF_64,
)
from kmcompile.program.stages import ExactSum, RoutedSum
from kmcompile.program.stages.leaves.route import Route

_MOST = 0xFFFF
"""Largest number that the tables of choices and slots hold."""

_NEVER_TAKEN = 2.0**60
"""Offset of a choice that no accepted input takes."""

_NOTHING_EXCLUDED = 2.0**120
"""Leaves of an unbounded kernel may be this far apart: no accepted input gives more."""


def lower_sum_over_vectors(
    machine: KernelMachine, lanes: int, context: SumContext
) -> ExactSum | RoutedSum:
    """Return the sum over all vectors, or in a routed machine over those of a leaf."""
    if machine.routing is None:
        return lower_sum(machine, lanes, context)
    with np.errstate(over="ignore"):  # the limits of the input refuse what overflows here
        return lower_routed(machine, machine.routing, context)


def lower_routed(machine: KernelMachine, routing: Routing, context: SumContext) -> RoutedSum:
    """Return the stage of a routed machine.

    Raises
    ------
    InputError
        If the tables cannot index so many choices or vectors.
    """
    table = machine.support_vectors.astype(np.float32)
    vectors, slots = np.unique(table, axis=0, return_inverse=True)
    refuse_more("different support vectors", len(vectors))
    refuse_more("choices and leaves of the route", routing.n_choices + routing.n_leaves)
    coefficients = machine.dual_coef.T.astype(np.float32)
    machine, widths = _with_largest_gamma(machine, routing)
    if len(widths):
        # A squared distance also passes its factor, and the rounding of that.
        context = replace(context, n_roundings=table.shape[1] + 2)
    summation = _summation(int(routing.leaf_sizes.max()), routing.has_pairs)
    intercepts = machine.intercept + routing.intercepts
    weights = _leaf_weights(machine, routing)
    constants = sum_constants(machine, table, summation, context, weights.max(axis=0))
    stored = intercepts.astype(np.float32)
    off = np.abs(intercepts - stored).max(axis=0) + 2 * UNIT_ROUNDOFF_64 * np.abs(intercepts).max()
    # Coefficients below the smallest normal float32 are stored with an absolute error.
    tiny = (routing.pair_coef != 0) & (np.abs(routing.pair_coef) < SMALLEST_NORMAL)
    off += tiny.sum() * SMALLEST_NORMAL
    linear = lower_linear_part(routing)
    minimum = FLOAT32.bound_constants(constants["minimum"].astype(np.float64) + off)
    own_pairs = lower_own_pairs(machine, routing)
    if own_pairs:
        coefficients = own_terms(machine.dual_coef, routing, own_pairs).astype(np.float32)
        stored = own_values(stored, own_pairs)
    largest = (weights + np.abs(intercepts)).max() * (1 + 1e-9)
    bounded = constants["kernel"].value_bound <= 1.0 and linear is None
    return RoutedSum(
        route=lower_route(routing),
        kernel=constants["kernel"],
        vectors=vectors,
        slots=slots.reshape(-1).astype(np.uint16),
        widths=widths,
        coefficients=coefficients,
        leaf_ends=routing.leaf_ends.astype(np.uint32),
        intercepts=stored,
        minimum=minimum,
        final_factor=constants["final_factor"],
        # A linear part comes after one more addition.
        result_error=constants["result_error"] + np.float32(2 * UNIT_ROUNDOFF if linear else 0.0),
        trivial_bound=constants["trivial_bound"],
        # Two differences, two sums, the mean and the product round once each.
        mean_factor=FLOAT32.bound_constant(1 + 16 * UNIT_ROUNDOFF),
        apart=FLOAT32.bound_constant(2 * largest if bounded else _NOTHING_EXCLUDED / 2),
        products=lower_products(machine, routing),
        linear=linear,
        own_pairs=own_pairs,
    )


def _with_largest_gamma(
    machine: KernelMachine, routing: Routing
) -> tuple[KernelMachine, Float32Array]:
    """Return the machine with the largest gamma of its vectors, and their shares of it."""
    largest = float(routing.relative_gamma.max())
    if largest != 1.0:
        machine = replace(machine, kernel=machine.kernel.of_gamma_times(largest))
    widths = (routing.relative_gamma / largest).astype(np.float32)
    if (widths == 1.0).all():
        widths = np.zeros(0, dtype=np.float32)
    elif widths.min() < SMALLEST_NORMAL:
        raise InputError("gammas of one machine differ by more than float32 holds; use one gamma")
    return machine, widths


def _leaf_weights(machine: KernelMachine, routing: Routing) -> Float64Array:
    """Return the sums of the kernels' weights, shape (n_leaves, n_decisions)."""
    weights = error_weights(machine, routing)
    return np.array([weights[routing.members(n)].sum(axis=0) for n in range(routing.n_leaves)])


def _summation(most: int, has_pairs: bool) -> Summation:
    """Return the order of additions of a leaf of so many vectors.

    A product passes its own rounding, the additions of its leaf and that of the intercept. With
    pairs, c K_j also passes the additions of its row and the product with K_i.
    """
    if has_pairs:
        return Summation(3 + 2 * most, longest=most + 1, n_products=most * (most + 3))
    return Summation(on_the_way=1 + most, longest=most + 1, n_products=most)


def score_differences(
    routing: Routing,
) -> tuple[NDArray[np.intp], Float64Array, Float64Array]:
    """Return the choices after each node's first one, with w and t less those of the first."""
    sizes = np.diff(routing.node_ends, prepend=0)
    starts = routing.node_ends - sizes
    node_of = np.repeat(np.arange(routing.n_nodes), sizes)
    rows = np.flatnonzero(np.arange(routing.n_choices) > starts[node_of])
    first = starts[node_of[rows]]
    weights = routing.weights[rows] - routing.weights[first]
    return rows, weights, routing.offsets[rows] - routing.offsets[first]


def lower_route(routing: Routing) -> Route:
    """Return the route with the scores of each node's first choice subtracted from the others."""
    routing = with_two_choices(routing)
    rows, weights, offsets = score_differences(routing)
    table, short = weights.astype(np.float32), offsets.astype(np.float32)
    n = weights.shape[1]
    norm = _longest(table.astype(np.float64))
    # The subtractions in float64 are off by 2^-53 of their operands.
    subtracted = UNIT_ROUNDOFF_64 * (_longest(routing.weights[rows]) + _longest(routing.weights))
    of_weights = _longest(weights - table) + subtracted + flushed_norm(table)
    of_weights += np.sqrt(n) * SMALLEST_NORMAL
    moved = float(np.abs(offsets - short).max(initial=0.0))
    moved += 2 * UNIT_ROUNDOFF_64 * float(np.abs(routing.offsets).max())
    rounded = UNIT_ROUNDOFF * float(np.abs(short.astype(np.float64)).max(initial=0.0))
    per_length = 1.01 * (FLOAT32.gamma_factor(n) + UNIT_ROUNDOFF) * norm + of_weights
    constant = moved + 1.01 * rounded + (n + 4) * 2 * SMALLEST_NORMAL
    targets = np.where(routing.targets >= 0, routing.targets, routing.n_nodes - 1 - routing.targets)
    return Route(
        weights=table,
        offsets=short,
        node_ends=routing.node_ends.astype(np.uint16),
        targets=targets.astype(np.uint16),
        per_length=FLOAT32.bound_constant(2 * per_length),
        per_deviation=FLOAT32.bound_constant(2 * (norm + of_weights)),
        minimum=FLOAT32.bound_constant(2 * constant),
    )


def with_two_choices(routing: Routing) -> Routing:
    """Return a routing where at least one node has two choices: no table may be empty.

    If each node has only one, the last node's comes again, too far off to be ever taken.
    """
    if routing.n_choices > routing.n_nodes:
        return routing
    return replace(
        routing,
        weights=np.concatenate([routing.weights, routing.weights[-1:]]),
        offsets=np.append(routing.offsets, routing.offsets[-1] + _NEVER_TAKEN),
        node_ends=np.append(routing.node_ends[:-1], routing.n_choices + 1),
        targets=np.append(routing.targets, routing.targets[-1]),
    )


def _longest(rows: Float64Array) -> float:
    """Return the largest Euclidean norm of a row, rounded up."""
    return float(np.sqrt((rows**2).sum(axis=1)).max(initial=0.0)) * (1 + 1e-12)


def refuse_more(what: str, n: int) -> None:
    """Raise InputError if the tables of a routed machine cannot index n of something."""
    if n > _MOST:
        raise InputError(f"{n} {what}, must be at most {_MOST}; train with fewer leaves or points")
