"""The distance of a reduced machine from the trained one where K(x, x) depends on the query."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from kmcompile.numeric.arrays import Bound, BoundArray, Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid, Layout


@dataclass(frozen=True, slots=True, eq=False)
class SelfBound(Laid):
    """|f_p(x) - f^_p(x)| <= distance_p sqrt(K(x, x)) for K(x, x) = (gamma |x|^2 + coef0)^degree.

    With r >= |x| and t = per_square r^2 + constant, sqrt(K(x, x)) <= t^(degree / 2). For an odd
    degree the last root is replaced by its tangent at `typical`, which lies above it:
    sqrt(t) <= (t + typical) / (2 sqrt(typical)). This divisor is part of `distance`, and so are all
    roundings.

    Parameters
    ----------
    per_square, constant : float32
        gamma and coef0, rounded up.
    half_degree : int
        degree / 2, rounded down.
    typical : float32
        The t of an ordinary query, for an odd degree; 0 for an even one.
    """

    per_square: Bound
    constant: np.float32
    half_degree: int
    typical: np.float32
    distance: Annotated[
        BoundArray,
        Layout(
            "Distance |W_p - W^_p| from the trained model, with all factors: [decision]",
            ("N_DECISIONS",),
        ),
    ]

    @property
    def is_odd(self) -> bool:
        """Whether the degree is odd."""
        return bool(self.typical > 0)

    @property
    def operations(self) -> int:
        """Multiply-adds of one query."""
        return 3 + self.half_degree + self.is_odd + len(self.distance)

    def of(self, batch: Batch) -> Float32Array:
        """Return the bound of each query and decision, shape (n_queries, n_decisions), float32."""
        reach = batch.length + batch.deviation
        t = self.per_square * (reach * reach) + self.constant
        root = np.ones_like(t)
        for _ in range(self.half_degree):
            root = root * t
        if self.is_odd:
            root = root * (t + self.typical)
        bound: Float32Array = root[:, None] * self.distance
        return bound
