"""A stage that may decide a query before the exact sum."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.layout import Constant, Member
from kmcompile.program.shared import Place
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.stage import Stage


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds:
    """L_k and H_k of a binary machine: beyond them an estimate decides (NSV, section 4.3).

    Parameters
    ----------
    steps : ndarray of shape (n,), int64
        k, increasing: kernels that are computed before the test.
    lower, upper : ndarray of shape (n,), float64
        Infinite where a side decides nothing.
    """

    steps: NDArray[np.int64]
    lower: Float64Array
    upper: Float64Array


class EarlyExit(Stage):
    """A stage that estimates the decisions, and decides the queries whose label this settles.

    An estimate with its half-width goes to the label stage in the places of decision and
    bound: where that finds the label to be the same within all of the half-widths, the query
    is decided.

    What follows `decide` are the questions that emission, cost, verification and report ask of
    every early exit. The defaults are those of an exit that computes no kernel and shares nothing
    with other stages.
    """

    place: ClassVar[Place] = Place.EXIT

    needs_root_bound: ClassVar[bool] = False
    """Whether its C calls `root_bound`, an upper bound on a square root."""

    calls_kernel: ClassVar[bool] = False
    """Whether its C calls the exact sum's kernel in float32, also where that sum is of integers."""

    hands_on_estimate: ClassVar[bool] = False
    """Whether it leaves its estimate and the query's spread for the exits behind it."""

    takes_estimate: ClassVar[bool] = False
    """Whether it uses the estimate that an exit before it has left."""

    uses_spread: ClassVar[bool] = False
    """Whether the half-widths of its tests are multiplied by the query's spread."""

    @property
    def touches(self) -> bool:
        """Whether it may compute kernels of the exact sum, which that sum then reuses."""
        return False

    @property
    def sums_approximations(self) -> bool:
        """Whether it sums approximate kernels in the order of the exact sum."""
        return False

    @property
    def reads_raw(self) -> bool:
        """Whether it looks at the input as it was received."""
        return False

    def stands_before(self, other: Stage) -> bool:
        """Return whether the exit may stand before this sum: by default any with early exits."""
        return other.takes_exits

    @abstractmethod
    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch after the stage and which of its queries are decided.

        All given queries are in range. A query that the stage finds outside the calibrated range is
        not decided, and its `in_range` becomes false.
        """

    def defines(self) -> tuple[Constant, ...]:
        """Return its private #defines; one that several exits have is written once."""
        return ()

    def members(self) -> tuple[Member, ...]:
        """Return what it has in the workspace; a member that several exits have is there once."""
        return ()

    def worst_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of a query that is not decided, with the label's tests."""
        return self.operations() + ends.label.operations()

    def weighted_operations(self, ends: Ends) -> int:
        """Return the worst-case operations, weighted as operations of the exact sum."""
        return ends.weight(self) * self.worst_operations(ends)

    def saved_operations(self, ends: Ends) -> int:
        """Return what the exact sum of such a query saves, where `worst_operations` has it not."""
        return 0

    def added_operations(self, ends: Ends) -> int:
        """Return the weighted multiply-adds of such a query beyond those of the exact sum."""
        return self.weighted_operations(ends) - self.saved_operations(ends)

    def kernels_at_tests(self) -> tuple[int, ...]:
        """Return after how many kernels of its own it tests: those that verification looks for."""
        return ()

    def test_offset(self, number: int) -> float:
        """Return what its test of this number takes off an estimate of the first decision."""
        return 0.0

    def thresholds(self) -> Thresholds | None:
        """Return the thresholds of its tests on the first decision, None where none are drawn."""
        return None
