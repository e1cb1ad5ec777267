"""The route of a query of integer codes through a tree of choices to a leaf, in integers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, Float64Array, Positive
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages.leaves.route import OFFSETS, WEIGHTS, NodeEnds, RouteTree, Targets

LARGEST_MARGIN = np.float32(2.0**60)
"""No two scores are further apart: beyond it every choice is open."""


@dataclass(frozen=True, slots=True, eq=False)
class FixedRoute(RouteTree):
    """Scores sum_j W_j X_j - 2^offset_shift T in integers of 64 bits.

    X are the codes of the input, x = unit X. A score is the trained <w, x> - t in steps. With
    e = |w / step - W| for each feature, a score is off by at most sum_j e_j |X_j|, what T is
    rounded by, and |w| delta / (step unit), delta being the distance of the input from its codes.
    Twice the largest such bound is the margin

        per_deviation delta + minimum,

    in steps, rounded up to a whole number.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_features), int32
    offsets : ndarray of shape (n_rows,), int32
    node_ends, targets : ndarray, uint16
    offset_shift : int
        From 0 to 29.
    per_unit : float32
        Codes in one unit of a prepared input.
    per_deviation, minimum : float32
    weight : int
        Multiply-adds of codes that take as many instructions as one of 64 bits.
    """

    weights: Annotated[NDArray[np.int32], WEIGHTS]
    offsets: Annotated[NDArray[np.int32], OFFSETS]
    node_ends: NodeEnds
    targets: Targets
    offset_shift: int
    per_unit: Bound
    per_deviation: Bound
    minimum: Bound
    weight: Positive

    @property
    def score_operations(self) -> int:
        """Multiply-adds of one score, its comparisons included."""
        return self.weight * int(self.weights.shape[1]) + 8

    def margins(self, batch: Batch) -> NDArray[np.int64]:
        """Return the margin of each query, shape (n_queries,)."""
        margin = self.per_deviation * batch.deviation + self.minimum
        whole: NDArray[np.int64] = np.minimum(margin, LARGEST_MARGIN).astype(np.int64) + 1
        return whole

    def inputs(self, batch: Batch) -> NDArray[Any]:
        """Return the codes of the queries."""
        return (batch.x * self.per_unit).astype(np.int64)

    def scores(self, x: NDArray[Any], rows: slice) -> NDArray[Any]:
        """Return the scores of some rows."""
        offsets = self.offsets[rows].astype(np.int64) << self.offset_shift
        scores: NDArray[np.int64] = x @ self.weights[rows].astype(np.int64).T - offsets
        return scores

    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return a bound on the margin before it is a whole number."""
        return float(self.per_deviation) * deviation + float(self.minimum)
