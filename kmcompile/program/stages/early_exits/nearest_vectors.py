"""Nearest support vectors (NSV, section 4): compute the largest terms first, stop when settled."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.float32 import value_within
from kmcompile.numeric.arrays import Bound, Float32Array, magnitude
from kmcompile.numeric.batch import Batch, in_order
from kmcompile.numeric.table import Below, Table
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.shared import Shared
from kmcompile.program.stages.early_exits.approximate_kernels import (
    chunks,
)
from kmcompile.program.stages.early_exits.early_exit import Thresholds
from kmcompile.program.stages.early_exits.inner_products import InnerProducts
from kmcompile.program.stages.early_exits.nearest_sizes import NearestSizes
from kmcompile.program.stages.early_exits.tug_of_war import by_score, tug_of_war
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.stage import Stage
from kmcompile.program.stages.sums.exact_sum import ExactSum


@dataclass(frozen=True, slots=True, eq=False)
class NearestVectors(NearestSizes):
    """Approximate all kernels in a projection, then replace them by exact ones, largest first.

    A slot is a vector's place in the exact sum's blocks, padding included. Level l extends the
    projection z of the input by the rows of M_l and the accumulated kernel totals with them, so
    the approximations of a level cost its new dimensions only:

        K~_i = K at total_i(z_1 .. z_{p_l}) [+ residuals_li + rest_l],

    where a kernel of distances adds the squared norms of the components outside the projection, of
    the vector and of the input, rest_l = max(0, |x|^2 - z_1^2 - ... - z_{p_l}^2).

    - With `from_estimate` (the control variate), the running decision begins at
      f~ = sum beta_i K~_i + b, and a touched vector adds beta_i (K_i - K~_i). The first tests, one
      for each level, come before any vector is touched.
    - Without `from_estimate` (the paper's scheme), it begins at b, and a touched vector adds
      beta_i K_i.

    The slot with the largest score weights_i |K~_i| is touched next, of equal scores the first.
    With `tug_of_war` the slot comes from the vectors with positive or with negative beta (the two
    groups of the exact sum), so that the sums of the touched |beta| stay closer together; if both
    choices are equally close, from the positive ones (NSV, section 4.2).

    A test gives own * decision + earlier * E - offset to the label stage, where E is the estimate
    of the last reduced set. The half-width is multiplied by the spread from this reduced set (1 if
    there is none).
    An input whose rest_l is outside its limits is out of range.

    Parameters
    ----------
    levels : tuple of InnerProducts
        The matrices M_l, with p_l - p_{l-1} orthonormal rows each.
    residuals : ndarray of shape (n_levels, n_slots), float32
        Squared norm of each vector's part outside the projection; of shape (0, n_slots) if the
        kernel is a function of inner products.
    weights : ndarray of shape (n_slots,), float32
        Factor of the score; 0 for slots that are never touched: padding, and vectors inside the
        projection.
    far : float32
        An approximate kernel value counts as 0 if its accumulated total is at least `far`.
    steps : ndarray of shape (n_tests,), uint16
        Number of touched vectors at each test. With `from_estimate` the first n_levels are 0, the
        others increase.
    """

    levels: tuple[InnerProducts, ...]
    vectors: Annotated[
        Float32Array,
        Layout(
            "Projected support vectors M s_i: [block][dimension][lane]",
            ("N_BLOCKS", "dimensions of all levels", "LANES"),
            name="projected",
        ),
    ]
    residuals: Annotated[
        Float32Array,
        Layout(
            "Square of the part of each vector outside M: [level][slot]",
            ("levels", "N_SLOTS"),
            where="uses_distance",
        ),
    ]
    weights: Annotated[
        Float32Array,
        Layout(
            "Score of a vector whose kernel is 1, 0 where it is never touched: [slot]", ("N_SLOTS",)
        ),
    ]
    far: Bound
    from_estimate: bool
    tug_of_war: bool
    steps: Annotated[
        NDArray[np.uint16],
        Layout(
            "Number of vectors that are touched before a test: [test]",
            ("tests of touched vectors",),
            below=Below("self.n_counts"),
        ),
    ]
    own: Annotated[
        Float32Array,
        Layout(
            "Share of the running decisions in a test: [test][decision]",
            ("tests of touched vectors", "N_DECISIONS"),
        ),
    ]
    earlier: Annotated[
        Float32Array,
        Layout(
            "Share of the reduced set's estimate in a test: [test][decision]",
            ("tests of touched vectors", "N_DECISIONS"),
        ),
    ]
    offset: Annotated[
        Float32Array,
        Layout(
            "Middle of the calibrated band of the decisions: [test][decision]",
            ("tests of touched vectors", "N_DECISIONS"),
        ),
    ]
    half_width: Annotated[
        Float32Array,
        Layout(
            "Half of the calibrated band of the decisions: [test][decision]",
            ("tests of touched vectors", "N_DECISIONS"),
            clipped=True,
        ),
    ]
    least: Annotated[
        Float32Array,
        Layout("Least square of what is outside M: [level]", ("levels",), clipped=True),
    ]
    largest: Annotated[
        Float32Array,
        Layout("Largest square of what is outside M: [level]", ("levels",), clipped=True),
    ]

    template: ClassVar[str] = "nearest_vectors"
    exit: ClassVar[str | None] = "statistical"
    prefix: ClassVar[str] = "nearest"
    takes_estimate: ClassVar[bool] = True
    uses_spread: ClassVar[bool] = True
    watches_range: ClassVar[bool] = True  # by the input's norm outside each level

    def __post_init__(self) -> None:
        Laid.__post_init__(self)
        if self.residuals.min(initial=0.0) < 0.0:
            # The C's kernel functions do not accept a negative distance.
            raise ValueError("residuals of nearest_vectors must be at least 0")
        if (np.diff(self.steps.astype(np.int64)) < 0).any():
            raise ValueError("nearest_vectors touches fewer vectors before a later test")

    @property
    def sums_approximations(self) -> bool:
        """Whether the running decision begins at the sum of the approximations."""
        return self.from_estimate

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with estimates, and which queries they decide."""
        assert isinstance(ends.exact, ExactSum)
        # The totals in the projection overwrite the totals of kernels that were known.
        none = np.zeros(len(batch), dtype=np.uint32)
        batch = replace(batch, known=none, spared=none)
        decided = np.zeros(len(batch), dtype=bool)
        rows = np.arange(len(batch))
        left: list[tuple[NDArray[np.intp], Batch]] = []
        for part in chunks(len(batch), self.n_slots):
            for index, answered, done in self._tests(batch.chosen(part), ends):
                left.append((rows[part][index], answered))
                decided[rows[part][index]] = done
        return in_order(left), decided

    def _tests(
        self, batch: Batch, ends: Ends
    ) -> Iterator[tuple[NDArray[np.intp], Batch, NDArray[np.bool_]]]:
        """Yield the queries that leave after each test: indices, state, and whether decided."""
        exact = ends.exact
        assert isinstance(exact, ExactSum)
        places = np.arange(len(batch))
        columns = np.ascontiguousarray(self.vectors.transpose(1, 0, 2).reshape(self.n_out, -1))
        total = np.zeros((len(batch), self.n_slots), dtype=np.float32)
        rest = batch.square
        approximate, running = total, np.zeros((len(batch), exact.n_decisions), dtype=np.float32)
        first = 0
        for number, level in enumerate(self.levels):
            z = level.of(batch.x)
            for column, s in zip(z.T, columns[first : first + level.n_rows], strict=True):
                exact.kernel.accumulate(total, column[:, None], s)
                rest = rest - column * column
            first += level.n_rows
            outside = np.maximum(rest, np.float32(0.0))
            full = total
            if self.uses_distance:
                full = (total + self.residuals[number]) + outside[:, None]
            approximate = value_within(exact.kernel, full, self.far)
            spent = self.level_operations(number, exact, batch.x)
            in_range = (rest >= self.least[number]) & (rest <= self.largest[number])
            batch = replace(batch, in_range=in_range, operations=batch.operations + spent)
            leaves = ~in_range
            if self.from_estimate:
                running = exact.sum_values(approximate) + exact.intercept
                batch = self._test(batch, running, number, ends)
                leaves |= batch.settled
            yield places[leaves], batch.chosen(leaves), (batch.settled & in_range)[leaves]
            stays = ~leaves
            places, batch = places[stays], batch.chosen(stays)
            total, rest = total[stays], rest[stays]
            approximate, running = approximate[stays], running[stays]
        if not self.from_estimate:
            running = np.broadcast_to(exact.intercept, running.shape).copy()
        n_before = self.n_levels if self.from_estimate else 0
        if n_before < len(self.steps):
            yield from self._touch(places, batch, approximate, running, n_before, ends)
        else:
            yield places, batch, np.zeros(len(batch), dtype=bool)

    def _touch(
        self,
        places: NDArray[np.intp],
        batch: Batch,
        approximate: Float32Array,
        running: Float32Array,
        first_test: int,
        ends: Ends,
    ) -> Iterator[tuple[NDArray[np.intp], Batch, NDArray[np.bool_]]]:
        exact = ends.exact
        assert isinstance(exact, ExactSum)
        order = self.order(self.weights * magnitude(approximate), exact)
        batch = replace(batch, operations=batch.operations + self.order_operations)
        columns = exact.columns()
        done = 0
        for test in range(first_test, len(self.steps)):
            step = int(self.steps[test])
            allowed = batch.allowed - batch.kernel_evals >= step - done
            if not allowed.all():
                yield places[~allowed], batch.chosen(~allowed), batch.settled[~allowed] & False
                places, batch, order = places[allowed], batch.chosen(allowed), order[allowed]
                approximate, running = approximate[allowed], running[allowed]
            chosen = order[:, done:step]
            value = exact.kernel.value(exact.totals(batch.x, columns, chosen))
            if self.from_estimate:
                value = value - np.take_along_axis(approximate, chosen, axis=1)
            for number in range(chosen.shape[1]):
                exact.add_slots(running, chosen[:, number], value[:, number])
            spent = (step - done) * self.touch_operations(exact, batch.x)
            batch = replace(
                batch,
                kernel_evals=batch.kernel_evals + np.uint32(step - done),
                known=batch.known + np.uint32(step - done),
                spared=exact.spared(order[:, :step]),
                operations=batch.operations + spent,
            )
            done = step
            batch = self._test(batch, running, test, ends)
            leaves = batch.settled if test + 1 < len(self.steps) else batch.settled | True
            yield places[leaves], batch.chosen(leaves), batch.settled[leaves]
            stays = ~leaves
            places, batch, order = places[stays], batch.chosen(stays), order[stays]
            approximate, running = approximate[stays], running[stays]

    def _test(self, batch: Batch, running: Float32Array, test: int, ends: Ends) -> Batch:
        estimate = running * self.own[test] + batch.earlier * self.earlier[test]
        decision = estimate - self.offset[test]
        bound = batch.spread[:, None] * self.half_width[test]
        spent = batch.operations + self.test_operations(ends)
        return ends.label.run(replace(batch, decision=decision, bound=bound, operations=spent))

    def order(self, score: Float32Array, exact: ExactSum) -> NDArray[np.intp]:
        """Return the slots in the order of touching, shape (n_queries, max_touched)."""
        usable = np.flatnonzero(self.weights > 0)
        if not self.tug_of_war:
            return by_score(score, usable, self.max_touched)
        beta = exact.slot_coefficients(0)
        positive, negative = (
            by_score(score, side) for side in (usable[beta[usable] > 0], usable[beta[usable] < 0])
        )
        return tug_of_war(positive, negative, magnitude(beta), self.max_touched)

    def stands_before(self, other: Stage) -> bool:
        """Return whether the stage may stand before a sum: it needs single kernels in float32."""
        return isinstance(other, ExactSum) and other.has_single_kernels

    def needs(self) -> frozenset[str]:
        """Return the results that its projections need, and |x|^2."""
        return frozenset({"square"}).union(*(level.needs() for level in self.levels))

    def test_offset(self, number: int) -> float:
        """Return the offset of a test: the middle of its band."""
        return float(self.offset[number, 0])

    def thresholds(self) -> Thresholds:
        """Return the thresholds of the last test at each k, which uses the finest projection."""
        steps = self.steps.astype(np.int64)
        last = np.flatnonzero(np.diff(steps, append=-1))
        offset = self.offset[last, 0].astype(np.float64)
        half_width = self.half_width[last, 0].astype(np.float64)
        return Thresholds(steps[last], offset - half_width, offset + half_width)

    def shared(self) -> Shared:
        """Return the numbers of features, decisions and slots of the exact sum."""
        own = (("dimensions of all levels", self.level_ends[-1]), ("levels", self.n_levels))
        return (*own, *Laid.shared(self))

    def tables(self) -> tuple[Table, ...]:
        """Return projections, projected vectors, residuals, weights and the tests."""
        text = "Rows of the projection M, without unit: [block][feature][lane]"
        levels = (
            Table(f"nearest_projection_{n}", level.blocks, text)
            for n, level in enumerate(self.levels, start=1)
        )
        return (*levels, *Laid.tables(self))
