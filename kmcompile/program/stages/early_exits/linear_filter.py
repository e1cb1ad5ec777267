"""The linear filter (NSV, section 5.1): a linear machine decides queries far from its boundary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.shared import Shared
from kmcompile.program.stages.early_exits.early_exit import EarlyExit
from kmcompile.program.stages.early_exits.inner_products import InnerProducts
from kmcompile.program.stages.ends import Ends


@dataclass(frozen=True, slots=True, eq=False)
class LinearFilter(EarlyExit):
    """decision_p = <w_p, x> + c_p with the half-width h_p.

    Thresholds L < 0 < H on the filter's value are written as the middle of the band, which is
    part of c, and its half-width: value > H or value < L.

    Parameters
    ----------
    intercept, half_width : ndarray of shape (n_decisions,), float32
        With an infinite half-width no query is decided.
    """

    products: Annotated[
        InnerProducts,
        Layout(
            "Weights w_p of the estimate, per prepared feature: [block][feature][lane]",
            name="weights",
            of="products.blocks",
        ),
    ]
    intercept: Annotated[
        Float32Array,
        Layout(
            "Constants c_p of the estimate, the middle of its band: [decision]", ("N_DECISIONS",)
        ),
    ]
    half_width: Annotated[
        Float32Array,
        Layout(
            "Half of the calibrated band of the decisions: [decision]",
            ("N_DECISIONS",),
            clipped=True,
        ),
    ]

    template: ClassVar[str] = "linear_filter"
    exit: ClassVar[str | None] = "statistical"
    prefix: ClassVar[str] = "filter"

    @property
    def n_decisions(self) -> int:
        """Decision values."""
        return len(self.intercept)

    def estimate(self, x: Float32Array) -> Float32Array:
        """Return the decisions, shape (n_queries, n_decisions)."""
        value: Float32Array = self.products.of(x) + self.intercept
        return value

    def decide(self, batch: Batch, ends: Ends) -> tuple[Batch, NDArray[np.bool_]]:
        """Return the batch with estimates, and which queries they decide."""
        decision = self.estimate(batch.x)
        spent = self.operations_of(batch.x) + ends.label.operations()
        batch = replace(
            batch,
            decision=decision,
            bound=np.broadcast_to(self.half_width, decision.shape),
            operations=batch.operations + spent,
        )
        batch = ends.label.run(batch)
        return batch, batch.settled

    def operations_of(self, x: Float32Array) -> NDArray[np.int64]:
        """Return the multiply-adds of each query, without those of the label."""
        return self.products.operations_of(x) + self._own_operations

    @property
    def _own_operations(self) -> int:
        return 2 * self.n_decisions

    def needs(self) -> frozenset[str]:
        """Return the results that its inner products need."""
        return self.products.needs()

    def operations(self) -> int:
        """Return the multiply-adds for an input without zeros; the label's test comes on top."""
        return self.products.operations() + self._own_operations

    def shared(self) -> Shared:
        """Return the constants that its inner products share, and the number of decisions."""
        return (("N_DECISIONS", self.products.n_rows), *Laid.shared(self))
