"""A stage that may decide a query before the exact sum."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.batch import Batch
from kmcompile.program.shared import Place
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.stage import Stage


class EarlyExit(Stage):
    """A stage that estimates the decisions, and decides the queries whose label this settles.

    The label stage receives the estimates in the place of decisions and the half-widths in the
    place of bounds. If every decision within its half-width gives one label, the query is decided.
    """

    place: ClassVar[Place] = Place.EXIT

    def stands_before(self, other: Stage) -> bool:
        """Return whether the exit may stand before this sum: by default any with early exits."""
        return other.takes_exits

    @abstractmethod
    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch after the stage and which of its queries are decided.

        All given queries are in range. A query that the stage finds outside the calibrated range is
        not decided, and its `in_range` becomes false.
        """

    def worst_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of a query that is not decided, with the label's tests."""
        return self.operations() + ends.label.operations()

    def weighted_operations(self, ends: Ends) -> int:
        """Return the worst-case operations, weighted as operations of the exact sum."""
        return ends.weight(self) * self.worst_operations(ends)
