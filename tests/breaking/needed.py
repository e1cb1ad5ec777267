"""What a term of a bound needs: the rounding errors of sums, and the test of a stage."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

DIGITS = 50
U = 2.0**-24
TINY = 2.0**-126
Needed = dict[str, Any]
"""Term -> the least value that it may have, of its shape; "shrink" the largest."""


def gamma(n: int, unit: float = U) -> float:
    """Return gamma_n = n u / (1 - n u), from rationals."""
    u = Fraction(unit)
    return float(n * u / (1 - n * u))


def holds(stage: Any, needed: Needed) -> list[str]:
    """Return the terms that are too small (of "shrink", too large)."""
    bad = []
    for term, least in needed.items():
        value = stage
        for name in term.split("[")[0].split("."):
            value = getattr(value, name)
        value = np.asarray(value, dtype=np.float64)
        if term.endswith("]"):
            value = value[..., int(term[:-1].split("[")[1])]
        sure = value <= least if term == "shrink" else value >= least
        bad += [] if np.all(sure) else [term]
    return bad
