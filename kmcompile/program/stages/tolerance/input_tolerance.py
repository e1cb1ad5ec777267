"""Answers that hold for every input within a tolerance of the one received."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.poly import PolyFloat32
from kmcompile.numeric.arrays import Bound, BoundArray, Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Member
from kmcompile.program.shared import LEFT_OUT
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.labels.proved import NARROW_OPERATIONS, narrowed, proved
from kmcompile.program.stages.labels.value import Value
from kmcompile.program.stages.sums.exact_sum import ExactSum
from kmcompile.program.stages.sums.sum import Sum
from kmcompile.program.stages.tolerance.box_distance import BoxDistance
from kmcompile.program.stages.tolerance.box_slopes import BoxSlopes, own_blocks
from kmcompile.program.stages.tolerance.poly_slopes import PolySlopes


@dataclass(frozen=True, slots=True, eq=False)
class InputTolerance(Laid):
    """What follows the sums of a program with an input tolerance: bounds over a box of inputs.

    The box of a received input x holds every x' with |x'_i - x_i| <= T_i. Behind affine steps it
    is a box of prepared inputs x + d, |d_i| <= t_i. A label is certified if it is the model's for
    every input of the box.

    - Early exits take the box for a deviation: every input of it, exactly prepared, is within
      `reach` >= |t| of x, and |t| more than the deviation bounds what rounding adds to that. So
      what they prove holds for the box (`Prepare.reach`).
    - The sum is that of x itself. |f_p(x + d) - f_p(x)| <= widths_p: by the Cauchy-Schwarz
      inequality in feature space, |W_p| |phi(x + d) - phi(x)| <= |W_p| sqrt(2 - 2 exp(-gamma
      |t|^2)) for an rbf kernel; sum_i t_i |w_pi| for a linear machine, where it is exact. For a
      polynomial kernel a width grows with the distance of x from a centre: `distance`.
    - Where that leaves the label open although the sum itself certifies it, `slopes` bounds the
      decisions by their slope at x: in one-vs-one those of the pairs that the label's class has
      won, until one of them stays open.
    - The interval of a regression's value always has both bounds: there is no sign that settles it.

    Parameters
    ----------
    tolerance : ndarray of shape (n_features,), float64
        T, in units of the raw features.
    distance : BoxDistance, optional
        Where the bounds depend on how far x is from a centre.
    """

    tolerance: Annotated[Float64Array, Layout("", ("N_FEATURES",))]
    reach: Bound
    widths: Annotated[
        BoundArray,
        Layout(
            "How far a decision is from x's anywhere in the box of the tolerance: [decision]",
            ("N_DECISIONS",),
            name="box_widths",
        ),
    ]
    slopes: BoxSlopes | None
    distance: BoxDistance | None = field(default=None, metadata=LEFT_OUT)

    name: ClassVar[str] = "input_tolerance"
    order_in_c: ClassVar[tuple[str, ...]] = ("widths", "distance")

    def check_reads(self, exact: Sum) -> None:
        """Check the powers of a distance, and that slopes sum the features that some vector has.

        Raises
        ------
        ValueError
        """
        if self.distance is not None:
            if not isinstance(exact.kernel, PolyFloat32):
                raise ValueError("the box has powers of a distance, the sum no polynomials")
            powers = exact.kernel.degree - 1
            if self.distance.widths.shape[1] != powers:
                raise ValueError(f"the box has widths of other than {powers} powers")
            if isinstance(self.slopes, PolySlopes) and self.slopes.growths.shape[1] != powers - 1:
                raise ValueError(f"the box has growths of other than {powers - 1} powers")
        if self.slopes is None or self.slopes.columns is None:
            return
        assert isinstance(exact, ExactSum)
        if not np.array_equal(self.slopes.columns, np.flatnonzero(exact.columns().any(axis=1))):
            raise ValueError("the box has other columns than the features of the vectors")

    def run(self, batch: Batch, summed: Batch, ends: Ends) -> tuple[Batch, NDArray[np.int64]]:
        """Return the labelled batch, and the multiply-adds that the box takes of each query.

        Parameters
        ----------
        batch : Batch
            The batch before the sum, with what certified exits have proved of the box.
        summed : Batch
            The batch after the sum of the received inputs.
        ends : Ends
        """
        at_x = ends.label.run(summed)
        distance = None if self.distance is None else self.distance.of(summed)
        width = summed.bound + self._widths(distance)
        boxed = replace(summed, least=batch.least, most=batch.most)
        boxed = narrowed(boxed, summed.decision - width, summed.decision + width)
        if isinstance(ends.label, Value):
            answer, spent = self._value(boxed, at_x, distance, ends)
            settled = ends.label.is_settled(answer.lower, answer.upper)
            return replace(answer, settled=settled), spent
        answer = proved(boxed, ends.label)
        spent = np.full(len(batch), self._first_operations(ends), dtype=np.int64)
        if self.slopes is not None:
            rows = np.flatnonzero(~answer.settled & at_x.settled)
            if len(rows):
                boxed, of_rows = self._sharpened(boxed, at_x, distance, rows, ends)
                spent[rows] += of_rows + self._label_operations(ends)
                answer = proved(boxed, ends.label)
        return self._answered(answer, at_x, ends), spent

    def _value(
        self, boxed: Batch, at_x: Batch, distance: Float32Array | None, ends: Ends
    ) -> tuple[Batch, NDArray[np.int64]]:
        """Return the values of x with intervals that hold for the box, and the multiply-adds."""
        spent = np.full(len(boxed), self._first_operations(ends), dtype=np.int64)
        if self.slopes is not None:
            rows = np.arange(len(boxed))
            boxed, of_rows = self._sharpened(boxed, at_x, distance, rows, ends)
            spent += of_rows
        lower, upper = boxed.least[:, 0], boxed.most[:, 0]
        value = np.where(at_x.value < lower, lower, at_x.value)
        value = np.where(value > upper, upper, value)
        return replace(at_x, value=value, lower=lower, upper=upper), spent

    def _answered(self, answer: Batch, at_x: Batch, ends: Ends) -> Batch:
        """Return the answers; where the box leaves a label open, it is that of x itself."""
        label = np.where(answer.settled, answer.label, at_x.label).astype(np.int32)
        of_label = ends.label.interval_at(answer, label)
        lower = np.where(answer.settled, answer.lower, of_label[0])
        upper = np.where(answer.settled, answer.upper, of_label[1])
        return replace(answer, label=label, lower=lower, upper=upper)

    def _widths(self, distance: Float32Array | None) -> Float32Array:
        """Return the widths of the decisions, one row, or one row a query."""
        if self.distance is None or distance is None:
            return self.widths
        widths: Float32Array = self.widths + self.distance.added(distance)
        return widths

    def _sharpened(
        self,
        boxed: Batch,
        at_x: Batch,
        distance: Float32Array | None,
        rows: NDArray[np.intp],
        ends: Ends,
    ) -> tuple[Batch, NDArray[np.int64]]:
        """Return the batch with narrower intervals of some queries, and their multiply-adds."""
        assert self.slopes is not None and isinstance(ends.exact, ExactSum)
        far = None if distance is None else distance[rows]
        box = self.slopes.at(boxed.chosen(rows), ends.exact, far)
        spent = np.full(len(rows), self.slopes.start_operations(), dtype=np.int64)
        goes_on = np.ones(len(rows), dtype=bool)
        for_sign = not ends.label.is_value
        low, high = boxed.least.copy(), boxed.most.copy()
        for p, wanted in ends.label.asked(at_x.chosen(rows)):
            least, most = low[rows, p], high[rows, p]
            is_open = (least <= 0) & (most >= 0) | (not for_sign)
            asked = np.flatnonzero(goes_on & wanted & is_open)
            if not len(asked):
                continue
            found = self.slopes.bounds(box.chosen(asked), p, ends.exact, for_sign)
            low[rows[asked], p] = np.where(found.low > least[asked], found.low, least[asked])
            high[rows[asked], p] = np.where(found.high < most[asked], found.high, most[asked])
            spent[asked] += found.operations
            after = (low[rows[asked], p], high[rows[asked], p])
            goes_on[asked] = (after[0] > 0) | (after[1] < 0)
        return replace(boxed, least=low, most=high), spent

    def _first_operations(self, ends: Ends) -> int:
        """Return the multiply-adds of the widened intervals, with one more label."""
        each = 3 + NARROW_OPERATIONS
        far = 0 if self.distance is None else self.distance.operations()
        return each * ends.exact.n_decisions + self._label_operations(ends) + far

    def _label_operations(self, ends: Ends) -> int:
        return ends.label.operations() + 4

    def operations(self, ends: Ends) -> int:
        """Return the multiply-adds of one query in the worst case."""
        total = self._first_operations(ends)
        if self.slopes is None:
            return total
        assert isinstance(ends.exact, ExactSum)
        total += self.slopes.start_operations() + self._label_operations(ends)
        exact, slopes = ends.exact, self.slopes
        n_bounds = max(map(len, ends.label.rests_on()))
        of_blocks = self.most_blocks(ends) * exact.lanes * slopes.n_columns
        return total + n_bounds * slopes.worst_operations(exact) + of_blocks

    def most_blocks(self, ends: Ends) -> int:
        """Return the most blocks that the slopes of a label's decisions take, all together."""
        exact = ends.exact
        assert isinstance(exact, ExactSum)
        counts = [own_blocks(p, exact) for p in range(exact.n_decisions)]
        return max(sum(counts[p] for p in own) for own in ends.label.rests_on())

    def members(self, ends: Ends) -> tuple[Member, ...]:
        """Return the arrays of the workspace."""
        if self.slopes is None:
            return ()
        exact = ends.exact
        assert isinstance(exact, ExactSum)
        return (
            Member("float", "box_factor", exact.n_slots, self.slopes.of_factors),
            Member("float", "box_share", exact.n_blocks, "most that a block adds to a slope's sum"),
            Member("float", "box_slope", exact.n_features, "sum of beta box_factor s_i"),
            Member("float", "at_x", exact.n_decisions, "decision values of x itself"),
            Member("float", "at_x_bound", exact.n_decisions, ">= their errors"),
        )
