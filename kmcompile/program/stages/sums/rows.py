"""Arrays that several sums have: one number for each decision."""

from __future__ import annotations

from typing import Annotated

from kmcompile.numeric.arrays import RealArray
from kmcompile.program.laid import Layout

_DECISIONS = ("N_DECISIONS",)

Intercept = Annotated[RealArray, Layout("Intercepts b_p of the decisions: [decision]", _DECISIONS)]

Minimum = Annotated[
    RealArray,
    Layout(
        "Part of the decisions' bound that no input changes: [decision]",
        _DECISIONS,
        name="minimum_bound",
    ),
]

PerLength = Annotated[
    RealArray,
    Layout("Error of the decisions per |x|: [decision]", _DECISIONS, name="bound_per_length"),
]

PerDeviation = Annotated[
    RealArray,
    Layout(
        "Error of the decisions per |x - prepared x|: [decision]",
        _DECISIONS,
        name="bound_per_deviation",
    ),
]

PerCode = Annotated[
    RealArray, Layout("Error of the decisions per |x - code|: [decision]", _DECISIONS)
]
