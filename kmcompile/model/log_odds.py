"""Log odds: the decision value of a calibrated machine."""

from __future__ import annotations

import math


def probability_at(f: float) -> float:
    """Return the probability 1 / (1 + exp(-f)) that log odds f stand for, without overflow."""
    e = math.exp(-abs(f))
    return (1.0 if f >= 0 else e) / (1.0 + e)
