"""A sum without support vectors: its tables describe the decision function itself."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np

from kmcompile.numeric.arrays import RealArray, magnitude
from kmcompile.numeric.batch import Batch
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

    def kernel_evaluations(self) -> int:
        """Return what is counted: most sums have one of `unit` for each decision."""
        return self.n_decisions

    def answered(self, batch: Batch, decision: RealArray, bound: RealArray) -> Batch:
        """Return the batch with decisions and bounds, each of shape (n_queries, n_decisions)."""
        spent = batch.kernel_evals + np.uint32(self.kernel_evaluations())
        return replace(batch, decision=decision, bound=bound, kernel_evals=spent)


class SumOfWeights(VectorlessSum):
    """A sum in floats with a table of weights, whose bound grows with |x| and with its deviation.

    Parameters
    ----------
    weights : ndarray, float32
    per_length, per_deviation : ndarray of shape (n_decisions,), float32
    """

    weights: RealArray
    per_length: RealArray
    per_deviation: RealArray

    bound_formula: ClassVar[str] = (
        "bound_per_length_p |x| + bound_per_deviation_p d + minimum_bound_p"
    )

    def shared_table(self) -> RealArray:
        """Return the weights."""
        return self.weights

    def bound(self, batch: Batch, decision: RealArray) -> RealArray:
        """Return the bounds of decisions of shape (n_queries, n_decisions)."""
        bound: RealArray = (
            self.per_length * batch.length[:, None]
            + self.per_deviation * batch.deviation[:, None]
            + magnitude(decision) * self.result_error
            + self.minimum
        )
        return bound
