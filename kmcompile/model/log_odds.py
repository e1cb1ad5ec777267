"""Log odds: the decision value of a calibrated machine."""

from __future__ import annotations

import math


def probability_at(f: float) -> float:
    """Return the probability 1 / (1 + exp(-f)) that log odds f stand for, without overflow."""
    e = math.exp(-abs(f))
    return (1.0 if f >= 0 else e) / (1.0 + e)


def decision_at(probability: float) -> tuple[float, float]:
    """Return the log odds ln(p / (1 - p)), and a bound on what they have lost by rounding.

    Each logarithm is within 2^-52 of itself, their difference is rounded once.
    """
    one, other = math.log(probability), math.log1p(-probability)
    decision = one - other
    return decision, 2.0**-52 * (abs(one) + abs(other)) + 2.0**-53 * abs(decision)


_STEEPEST = 2.0**100


def is_compiled(platt: tuple[float, float]) -> bool:
    """Return whether float32 can take the slope and offset of Platt's sigmoid.

    Examples
    --------
    >>> is_compiled((1.4, -0.2)), is_compiled((0.0, 3.0)), is_compiled((1e-42, 0.0))
    (True, True, False)
    """
    slope, offset = platt
    is_slope = slope == 0 or 1 / _STEEPEST <= abs(slope) <= _STEEPEST
    return is_slope and abs(offset) <= _STEEPEST
