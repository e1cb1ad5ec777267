"""A sum without support vectors whose inputs are integer codes."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, Float32Array, Float64Array
from kmcompile.program.laid import Laid
from kmcompile.program.shared import Shared
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.vectorless_sum import VectorlessSum


class SumOfCodes(VectorlessSum):
    """A sum in integers over the codes of an input.

    Parameters
    ----------
    codes : CodeRange
    per_unit : float32
        Codes in one unit; a sum over the codes as they are has its own `shared`.
    start : ndarray of shape (n_decisions, 2)
        What the sums begin with, the part > 0 and the part < 0.
    result_scale : float32
        The step of all decisions; a sum whose decisions have their own has its own `intercept`.
    """

    codes: CodeRange
    per_unit: Bound
    start: NDArray[Any]
    result_scale: Bound

    needs_magnitude: ClassVar[bool] = False

    @property
    def intercept(self) -> Float32Array:  # type: ignore[override]  # a property for the attribute
        """What the sums begin with, in float32."""
        begin, end = self.start.astype(np.float64).T
        exact: Float64Array = (begin - end) * float(self.result_scale)
        return exact.astype(np.float32)

    @property
    def n_decisions(self) -> int:
        """Decision values."""
        return len(self.start)

    @property
    def n_features(self) -> int:
        """Features of an input."""
        return self.codes.n_features

    @property
    def lanes(self) -> int:
        """Decisions that are summed side by side."""
        return 1

    @property
    def low_magnitude(self) -> int:
        """How far the least code is below 0."""
        return -self.codes.low

    def shared(self) -> Shared:
        """Return the number of codes in one unit, and the features."""
        own = (("codes in one unit", float(self.per_unit)), ("N_PREPARED", self.n_features))
        return (*own, *Laid.shared(self))
