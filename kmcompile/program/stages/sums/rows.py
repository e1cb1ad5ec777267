"""Arrays that several sums have: one number for each decision."""

from __future__ import annotations

from typing import Annotated

from kmcompile.numeric.arrays import RealArray, RealBoundArray
from kmcompile.program.laid import Layout

_DECISIONS = ("N_DECISIONS",)

Intercept = Annotated[RealArray, Layout("Intercepts b_p of the decisions: [decision]", _DECISIONS)]

Minimum = Annotated[
    RealBoundArray,
    Layout(
        "Part of the decisions' bound that no input changes: [decision]",
        _DECISIONS,
        name="minimum_bound",
    ),
]

PerLength = Annotated[
    RealBoundArray,
    Layout("Error of the decisions per |x|: [decision]", _DECISIONS, name="bound_per_length"),
]

PerDeviation = Annotated[
    RealBoundArray,
    Layout(
        "Error of the decisions per |x - prepared x|: [decision]",
        _DECISIONS,
        name="bound_per_deviation",
    ),
]

PerCode = Annotated[
    RealBoundArray, Layout("Error of the decisions per |x - code|: [decision]", _DECISIONS)
]
