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
    """A stage that estimates the decisions and decides the queries that it is sure of.

    An estimate with its half-width goes to the label stage in the places of decision and
    bound: where that finds the label to be the same within all of the half-widths, the query
    is decided.
    """

    place: ClassVar[Place] = Place.EXIT

    def stands_before(self, other: Stage) -> bool:
        """Return whether a sum takes early exits; most look at nothing else of it."""
        return other.takes_exits

    @abstractmethod
    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch after the stage and which of its queries are decided.

        A query that the stage finds to be out of the calibrated range is not decided, and its
        `in_range` is false. All queries given are in range.
        """

    def worst_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of a query that it does not decide, with those of the label."""
        return self.operations() + ends.label.operations()

    def weighted_operations(self, ends: Ends) -> int:
        """Return the same, weighted as operations of the exact sum."""
        return ends.weight(self) * self.worst_operations(ends)
