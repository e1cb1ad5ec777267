"""Lowering of what leaves in integers have besides single kernels: linear parts, and products."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kmcompile.lower.codes import Coded
from kmcompile.lower.leaf_parts import lower_triangle
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.program.stages.leaves.fixed_leaf_parts import FixedLinear, FixedPairs

_UP = 1 + 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class LoweredLinear:
    """The linear parts of leaves, and what they do to decisions.

    Parameters
    ----------
    stage : FixedLinear or None
    largest : ndarray of shape (n_leaves, n_decisions)
        The largest size of a stored linear part at any codes.
    apart, per_deviation : ndarray of shape (n_leaves, n_decisions)
        As in `LeafErrors`.
    """

    stage: FixedLinear | None
    largest: Float64Array
    apart: Float64Array
    per_deviation: Float64Array


def largest_linear(coded: Coded, routing: Routing) -> Float64Array:
    """Return the largest size of the linear parts, their rounding included.

    Its shape is (n_leaves, n_decisions).
    """
    if not routing.has_weights:
        return np.zeros((routing.n_leaves, coded.machine.n_decisions))
    weights = np.abs(routing.leaf_weights)
    # A weight is off by at most 2^-15 of the largest.
    rounded = weights.max() * 2.0**-14 * weights.shape[2]
    largest: Float64Array = (weights.sum(axis=2) + rounded) * _reach(coded) * _UP
    return largest


def half_codes(coded: Coded) -> float:
    """Return the largest distance of an input from its codes, but for rounding errors."""
    return 0.5 * coded.unit * math.sqrt(coded.machine.n_features)


def _reach(coded: Coded) -> float:
    """Return the magnitude of a prepared feature at the largest code."""
    return coded.unit * max(-coded.low, coded.high)


def lower_fixed_linear(
    coded: Coded, routing: Routing, product: float, weight: int
) -> LoweredLinear:
    """Return the linear parts in integers, of 16 bits if their rounding is less than the inputs'.

    Parameters
    ----------
    coded : Coded
    routing : Routing
    product : float
        The unit of a decision's sums.
    weight : int
        Multiply-adds of codes that take as many instructions as one of 64 bits.
    """
    if not routing.has_weights:
        nothing = np.zeros((routing.n_leaves, coded.machine.n_decisions))
        return LoweredLinear(None, nothing, nothing, nothing)
    narrow = _linear(coded, routing, product, 15, 1)
    inputs = 0.0 if coded.lossless else half_codes(coded)
    if (narrow.apart <= narrow.per_deviation * inputs / 2).all():
        return narrow
    return _linear(coded, routing, product, 31, weight)


def _linear(
    coded: Coded, routing: Routing, product: float, bits: int, weight: int
) -> LoweredLinear:
    """Return the linear parts in integers of so many bits and a sign."""
    weights = routing.leaf_weights
    of_code = weights * coded.unit
    least = float(np.abs(of_code).max()) / ((1 << bits) - 1) / product
    shift = max(0, math.ceil(math.log2(max(least, 1.0))))
    step = product * 2.0**shift
    whole = np.rint(of_code / step)
    most = max(-coded.low, coded.high)
    # The weights in units of the codes are rounded in float64, and so is their sum here.
    off = (np.abs(of_code - whole * step) + 4 * UNIT_ROUNDOFF_64 * np.abs(of_code)).sum(axis=2)
    return LoweredLinear(
        stage=FixedLinear(whole.astype(np.int32), shift, weight),
        largest=np.abs(whole).sum(axis=2) * step * most * _UP,
        apart=(off * most + coded.linear_error) * _UP,
        per_deviation=np.sqrt((weights**2).sum(axis=2)) * _UP,
    )


def pair_coefficients(routing: Routing, n_decisions: int) -> Float64Array:
    """Return c of the pairs (0, 0), (1, 0), (1, 1), ... of all leaves, (n_decisions, n_pairs)."""
    if not routing.has_pairs:
        return np.zeros((n_decisions, 0))
    return np.concatenate([lower_triangle(routing, leaf) for leaf in range(routing.n_leaves)]).T


def pair_sums(coefficients: Float64Array, routing: Routing) -> Float64Array:
    """Return the sums of magnitudes of the leaves' pairs, shape (n_leaves, n_decisions)."""
    if not routing.has_pairs:
        return np.zeros((routing.n_leaves, len(coefficients)))
    ends = np.append(routing.pair_starts, coefficients.shape[1])
    size = np.abs(coefficients)
    sums = [size[:, ends[n] : ends[n + 1]].sum(axis=1) for n in range(routing.n_leaves)]
    return np.array(sums) * _UP


def lower_fixed_pairs(
    coefficients: Float64Array, routing: Routing, step: float
) -> FixedPairs | None:
    """Return the products of kernels, whose coefficients are multiples of the step, if any."""
    if not routing.has_pairs:
        return None
    whole = np.rint(coefficients.T / step).astype(np.int32)
    return FixedPairs(routing.pair_starts.astype(np.uint32), whole)
