"""An answer that is made of one decision."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages.labels.label import Label


class OneDecision(Label):
    """A label that is the sign of the one decision, or the value that is this decision."""

    interval_text: ClassVar[str] = "the decision"
    margin_text: ClassVar[str] = "exact decision value f(x)"

    def margins(self, decisions: Float64Array, labels: NDArray[np.int32]) -> Float64Array:
        """Return the decisions."""
        return decisions[:, 0]

    def rests_on(self) -> list[list[int]]:
        """Return the one decision, for every answer."""
        return [[0]]

    def asked(self, batch: Batch) -> list[tuple[int, NDArray[np.bool_]]]:
        """Return the one decision with all queries."""
        return [(0, np.ones(len(batch), dtype=bool))]
