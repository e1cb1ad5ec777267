"""Lowering of what leaves in integers have besides kernels: linear parts."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from kmcompile.lower.codes import Coded
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.program.stages.fixed_leaf_parts import FixedLinear

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
