"""A statistical exit from outside the package: it decides by the distance from one centre."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, finite, frozen
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.program.layout import Constant, Member
from kmcompile.program.shared import Shared, sizes
from kmcompile.program.stages import EarlyExit
from kmcompile.program.stages.ends import Ends


@dataclass(frozen=True, slots=True, eq=False)
class Ball(EarlyExit):
    """decision_p = slope_p |x - c|^2 + intercept_p with the half-width h_p.

    Parameters
    ----------
    centre : ndarray of shape (n_features,), float32
        The centre c, in the space of the prepared input.
    slope, intercept, half_width : ndarray of shape (n_decisions,), float32
        Coefficients of each decision. With an infinite half-width the exit decides nothing.
    """

    centre: Float32Array
    slope: Float32Array
    intercept: Float32Array
    half_width: Float32Array

    template: ClassVar[str] = "ball"
    exit: ClassVar[str | None] = "statistical"

    def __post_init__(self) -> None:
        for name in ("centre", "slope", "intercept"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float32))
        object.__setattr__(self, "half_width", finite(self.half_width))

    def estimate(self, x: Float32Array) -> Float32Array:
        """Return the decisions, shape (n_queries, n_decisions)."""
        square = np.zeros(len(x), dtype=np.float32)
        for column in (x - self.centre).T:
            square += column * column
        value: Float32Array = square[:, None] * self.slope + self.intercept
        return value

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with estimates, and which queries the estimates decide."""
        decision = self.estimate(batch.x)
        batch = replace(
            batch,
            decision=decision,
            bound=np.broadcast_to(self.half_width, decision.shape),
            operations=batch.operations + self.worst_operations(ends),
        )
        batch = ends.label.run(batch)
        return batch, batch.settled

    def operations(self) -> int:
        """Return the multiply-adds of the distance and of the decisions."""
        return 2 * len(self.centre) + 2 * len(self.slope)

    def shared(self) -> Shared:
        """Return the numbers of features and decisions, which the program shares."""
        return (
            *sizes(self.centre, "N_PREPARED"),
            *sizes(self.slope, "N_DECISIONS"),
            *sizes(self.intercept, "N_DECISIONS"),
            *sizes(self.half_width, "N_DECISIONS"),
        )

    def defines(self) -> tuple[Constant, ...]:
        """Return the constant for the number of features of the centre."""
        return (Constant("BALL_FEATURES", len(self.centre), "features of the ball's centre"),)

    def members(self) -> tuple[Member, ...]:
        """Return the workspace member for x - c."""
        return (Member("float", "from_centre", len(self.centre), "x - c, c the ball's centre"),)

    def tables(self) -> tuple[Table, ...]:
        """Return the tables of the centre, slopes, intercepts and half-widths."""
        return (
            Table("ball_centre", self.centre, "Centre c of the ball: [feature]"),
            Table("ball_slope", self.slope, "Slopes of the estimate per |x - c|^2: [decision]"),
            Table("ball_intercept", self.intercept, "Constants of the estimate: [decision]"),
            Table("ball_half_width", self.half_width, "Half of the calibrated band: [decision]"),
        )
