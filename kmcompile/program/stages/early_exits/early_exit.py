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
from kmcompile.program.stages.early_exits.inner_products import InnerProducts
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.stage import Stage


@dataclass(frozen=True, slots=True, eq=False)
class Thresholds:
    """Thresholds L_k and H_k of a binary machine: beyond them an estimate decides (NSV, 4.3).

    Parameters
    ----------
    steps : ndarray of shape (n,), int64
        Numbers k of kernels that are computed before each test, increasing.
    lower, upper : ndarray of shape (n,), float64
        The thresholds; infinite if no query is decided on this side.
    """

    steps: NDArray[np.int64]
    lower: Float64Array
    upper: Float64Array


class EarlyExit(Stage):
    """A stage that estimates the decisions, and decides the queries whose label this settles.

    The label stage receives the estimates instead of decisions, and the half-widths instead of
    bounds. If every decision within its half-width gives one label, the query is decided.

    Emission, cost, verification and report read the members below `decide`. Their defaults are for
    an exit that computes no kernel and shares nothing with other stages.
    """

    place: ClassVar[Place] = Place.EXIT

    needs_root_bound: ClassVar[bool] = False
    """Whether the exit's C calls `root_bound`, an upper bound on a square root."""

    calls_kernel: ClassVar[bool] = False
    """Whether the exit's C calls the kernel in float32, even if the exact sum is in integers."""

    hands_on_estimate: ClassVar[bool] = False
    """Whether later exits read the exit's estimate and the query's spread."""

    takes_estimate: ClassVar[bool] = False
    """Whether the exit reads the estimate of an earlier exit."""

    walks: ClassVar[bool] = False
    """Whether the exit walks to the leaf of a routed machine, and the sum takes the walk over."""

    holds_in_box: ClassVar[bool] = False
    """Whether the exit's proofs hold for any deviation, so also for that of an input tolerance."""

    uses_spread: ClassVar[bool] = False
    """Whether the half-widths of its tests are multiplied by the query's spread."""

    @property
    def touches(self) -> bool:
        """Whether the exit may compute kernel values that the exact sum reuses."""
        return False

    @property
    def sums_approximations(self) -> bool:
        """Whether the exit sums approximate kernel values in the order of the exact sum."""
        return False

    @property
    def reads_raw(self) -> bool:
        """Whether the exit reads the raw input."""
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

    def makes(self) -> frozenset[str]:
        """Return the results that later stages may read: a certified exit narrows the intervals."""
        return frozenset({"intervals"} if self.is_certified else ())

    def defines(self) -> tuple[Constant, ...]:
        """Return the exit's private #defines; one that several exits have is emitted once."""
        return ()

    def members(self) -> tuple[Member, ...]:
        """Return the exit's members of the workspace; a member of several exits is emitted once."""
        return ()

    @property
    def n_projected(self) -> int:
        """Number of inner products with the input that the exit keeps; 0 if it has none."""
        parts = (part for field in self._fields() for part in self._parts(field))
        return max((part.n_padded for part in parts if isinstance(part, InnerProducts)), default=0)

    def worst_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of a query that is not decided, with the label's tests."""
        return self.operations() + ends.label.operations()

    def weighted_operations(self, ends: Ends) -> int:
        """Return the worst-case operations, weighted as operations of the exact sum."""
        return ends.weight(self) * self.worst_operations(ends)

    def saved_operations(self, ends: Ends) -> int:
        """Return the multiply-adds that the exact sum saves; 0 if `worst_operations` has them."""
        return 0

    def added_operations(self, ends: Ends) -> int:
        """Return the weighted multiply-adds of an undecided query beyond those of the exact sum."""
        return self.weighted_operations(ends) - self.saved_operations(ends)

    def kernels_at_tests(self) -> tuple[int, ...]:
        """Return the numbers of the exit's kernels after which it tests, for verification."""
        return ()

    def test_offset(self, number: int) -> float:
        """Return the offset that test `number` subtracts from the first decision's estimate."""
        return 0.0

    def thresholds(self) -> Thresholds | None:
        """Return the thresholds of the tests on the first decision, or None if none are drawn."""
        return None
