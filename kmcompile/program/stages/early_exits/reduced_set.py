"""A reduced set: few free vectors in a projection of the input, fitted to the decisions."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Member
from kmcompile.program.shared import Shared, sizes
from kmcompile.program.stages.early_exits.free_vectors import FreeVectors
from kmcompile.program.stages.ends import Ends


@dataclass(frozen=True, slots=True, eq=False)
class ReducedSet(FreeVectors):
    """decision_p = sum_c weight_pc bump(v_c) + <slope_p, y> + c_p + earlier_p E_p with y = M x.

    E_p is the estimate of the reduced set before, and is added last. One more row of weights and
    slopes gives the query's spread, an estimate of the error of its decisions relative to other
    queries. It is clipped to limits, and the half-width of decision p is half_width_p * spread.

    Parameters
    ----------
    number, products, vectors, weights, slopes, intercept, triangle, least, largest
        As in `FreeVectors`: a row for each decision, and the last one for the spread.
    """

    weights: Annotated[
        Float32Array,
        Layout("Weights of the decisions' estimates and of the spread: [block][row][lane]"),
    ]
    earlier: Annotated[
        Float32Array,
        Layout("Share of the set before in the estimate: [decision]", ("N_DECISIONS",)),
    ]
    least_spread: np.float32
    largest_spread: np.float32
    half_width: Annotated[
        Float32Array,
        Layout(
            "Half of the calibrated band, in spreads: [decision]", ("N_DECISIONS",), clipped=True
        ),
    ]

    template: ClassVar[str] = "reduced_set"
    exit: ClassVar[str | None] = "statistical"
    hands_on_estimate: ClassVar[bool] = True
    takes_estimate: ClassVar[bool] = True
    uses_spread: ClassVar[bool] = True

    @property
    def prefix(self) -> str:
        """Prefix of its tables and, in capitals, of its constants: `reduced_1`, ..."""
        return f"reduced_{self.number}"

    @property
    def n_decisions(self) -> int:
        """Decision values."""
        return len(self.half_width)

    def limited(self, spread: Float32Array) -> Float32Array:
        """Return the spread, clipped to its limits."""
        return np.minimum(np.maximum(spread, self.least_spread), self.largest_spread)

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with estimates, and which queries they decide."""
        y = self.products.of(batch.x)
        in_range = self.is_inside(y, batch.square, batch.in_range)
        rows = self.rows(y)
        decision = rows[:, :-1] + batch.earlier * self.earlier
        spread = self.limited(rows[:, -1])
        unsaid = self._sum_operations() + ends.label.operations()
        spent = self.operations_of(batch.x) + ends.label.operations()
        batch = replace(
            batch,
            decision=decision,
            bound=spread[:, None] * self.half_width,
            earlier=decision,
            spread=spread,
            in_range=in_range,
            operations=batch.operations + spent - np.where(in_range, 0, unsaid),
        )
        batch = ends.label.run(batch)
        return batch, batch.settled & in_range

    def members(self) -> tuple[Member, ...]:
        """Return the workspace member for the estimate."""
        rows = self.n_decisions + 1
        return (Member("float", "estimate", rows, "of a reduced set: decisions, spread"),)

    def shared(self) -> Shared:
        """Return the constants that its projection shares, and the number of decisions."""
        rows = (self.intercept[1:], self.slopes[1:, 0], self.weights[0, 1:, 0])
        named = (size for row in rows for size in sizes(row, "N_DECISIONS"))
        return (*Laid.shared(self), *named)
