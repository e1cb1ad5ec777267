"""A sum without support vectors: its tables describe the decision function itself."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from kmcompile.numeric.arrays import RealArray
from kmcompile.numeric.rounding import precision_of
from kmcompile.program.stages.sums.described_sum import DescribedSum


class VectorlessSum(DescribedSum):
    """A sum over features or terms whose cost does not depend on the number of support vectors.

    It cannot fail: it checks no table while it runs. An early exit stands before it only if the
    exit says so (`EarlyExit.stands_before`). In the replay all arrays of reals are float64 instead
    of float32.

    Parameters
    ----------
    intercept : ndarray of shape (n_decisions,), float32
    minimum : ndarray of shape (n_decisions,), float32
        The part of the bound that does not depend on the query.
    """

    minimum: RealArray

    may_fail: ClassVar[bool] = False

    def shared_table(self) -> RealArray:
        """Return the table that the replay reads, too, with low parts added; empty if none.

        Its name among the tables is "weights". A stage without one has tables of float64 in the
        replay.
        """
        return np.zeros(0, dtype=np.float32)

    @property
    def dtype_of_reals(self) -> Any:
        """The type of the arrays of reals: that of the error."""
        return precision_of(self.result_error).dtype
