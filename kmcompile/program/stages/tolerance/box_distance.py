"""How far an input is from the centre about which bounds over a box grow."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np

from kmcompile.numeric.arrays import Bound, BoundArray, Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid, Layout

BEYOND = np.float32(2.0**126)
"""The distance of inputs that are too far away, and what bounds grow by: nothing is proved."""


@dataclass(frozen=True, slots=True, eq=False)
class BoxDistance(Laid):
    """D >= |x - z| of an exactly prepared x, and what D adds to the widths of a box.

    With q = sum_i (x_i - z_i)^2, sqrt(q) <= q / (2 a) + a / 2 for any a > 0: the tangent of the
    root at a typical a^2. q has n + 2 roundings on the way; `per_square` and `half` cover them,
    those of D and the underflows. D = (per_square q + half) + deviation.

    Parameters
    ----------
    centre : ndarray of shape (n_features,), float32
        z.
    per_square : float32
        1 / (2 a), rounded up.
    half : float32
        a / 2, rounded up.
    farthest : float32
        From this D on the powers of D might overflow; D is then `BEYOND`.
    widths : ndarray of shape (n_decisions, degree - 1), float32
        What the widths of the decisions grow by with the powers of D, the highest power first.
    """

    centre: Annotated[
        Float32Array,
        Layout(
            "Where the distance of an input is from: [feature]", ("N_PREPARED",), name="box_centre"
        ),
    ]
    per_square: Bound
    half: Bound
    farthest: Bound
    widths: Annotated[
        BoundArray,
        Layout(
            "What box_widths grows by with the distance's powers: [decision][power]",
            ("N_DECISIONS", ""),
            name="box_width_growths",
        ),
    ]

    def of(self, batch: Batch) -> Float32Array:
        """Return D of each query. `batch.received` is the deviation of x alone."""
        square = np.zeros(len(batch), dtype=np.float32)
        with np.errstate(over="ignore"):  # infinity is not below `farthest`
            for feature, middle in zip(batch.x.T, self.centre, strict=True):
                gap = feature - middle
                square += gap * gap
            distance = (square * self.per_square + self.half) + batch.received
        return np.where(distance < self.farthest, distance, BEYOND)

    def added(self, distance: Float32Array) -> Float32Array:
        """Return what the widths grow by, shape (n_queries, n_decisions)."""
        return np.stack([growth(distance, row) for row in self.widths], axis=1)

    def operations(self) -> int:
        """Return the multiply-adds of one query."""
        return 2 * len(self.centre) + 3 + self.widths.size


def growth(distance: Float32Array, coefficients: Float32Array) -> Float32Array:
    """Return sum_k a_k D^k for k >= 1, coefficients of the highest power first.

    A bound that does not grow stays as it is however far away an input is.
    """
    if not len(coefficients):
        return np.zeros_like(distance)
    is_near = distance < BEYOND
    near = np.where(is_near, distance, np.float32(0.0))
    total = np.zeros_like(distance)
    for coefficient in coefficients:
        total = (total + coefficient) * near
    return np.where(is_near, total, BEYOND)
