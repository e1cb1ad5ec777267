"""The value of a regression: its one decision value, with an interval that holds the model's."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.outward import above, below
from kmcompile.program.shared import Shared
from kmcompile.program.stages.labels.label import OneDecision

NO_LABEL = np.int32(-1)
"""The label in the result of a regression."""

_LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, slots=True, eq=False)
class Value(OneDecision):
    """The value is the decision f, with the interval f - bound .. f + bound.

    A query is settled if its interval is narrow enough. The value lies in its interval, because f -
    bound <= f <= f + bound and rounding to float32 keeps the order. A width above the tolerance in
    real arithmetic rounds to at least the tolerance, which is a float32. So an interval whose
    computed width is below the tolerance is narrow enough.

    Parameters
    ----------
    tolerance : float32 or None
        A query is settled if its interval is narrower; None: every interval settles it.
    """

    tolerance: Bound | None = field()

    template: ClassVar[str] = "value"
    is_value: ClassVar[bool] = True
    decisions_text: ClassVar[str] = "the value"

    def run(self, batch: Batch) -> Batch:
        """Return the batch with value and interval, and which values are settled."""
        decision, bound = batch.decision[:, 0], batch.bound[:, 0]
        lower, upper = below(decision - bound), above(decision + bound)
        return replace(
            batch,
            label=np.full(len(decision), NO_LABEL),
            value=decision.astype(np.float32),
            lower=lower,
            upper=upper,
            settled=self.is_settled(lower, upper),
        )

    def is_settled(self, lower: Float32Array, upper: Float32Array) -> NDArray[np.bool_]:
        """Return which intervals are narrow enough."""
        if self.tolerance is None:
            return np.ones(len(lower), dtype=bool)
        settled: NDArray[np.bool_] = upper - lower < self.tolerance
        return settled

    @classmethod
    def within(cls, tolerance: float | None) -> Value:
        """Return the stage for a tolerance in float64, with the largest float32 at most it.

        Examples
        --------
        >>> float(Value.within(0.1).tolerance) < 0.1, float(Value.within(0.5).tolerance)
        (True, 0.5)
        """
        if tolerance is None:
            return cls(None)
        nearest = np.float32(min(tolerance, _LARGEST))
        below_it = np.nextafter(nearest, np.float32(0.0))
        return cls(below_it if float(nearest) > tolerance else nearest)

    def shared(self) -> Shared:
        """Return the numbers of decisions and classes, 1 and 0."""
        return (("N_DECISIONS", 1), ("N_CLASSES", 0))

    def operations(self) -> int:
        """Return the operations of the interval's ends and of the comparison of its width."""
        return 4
