"""Lowering of the route of a machine with codes to scores in integers."""

from __future__ import annotations

import math

import numpy as np

from kmcompile.lower.codes import Coded
from kmcompile.lower.routed_sum import score_differences, with_two_choices
from kmcompile.model.routing import Routing
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64, bound_constant
from kmcompile.program.stages.leaves.fixed_route import FixedRoute

MOST_FEATURES = 1 << 13
"""So that no score exceeds 2^59, whatever a damaged table of weights holds."""

_LARGEST_SCORE = 2.0**59
_WORD = (1 << 31) - 1


def lower_fixed_route(coded: Coded, routing: Routing, weight: int) -> FixedRoute:
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
