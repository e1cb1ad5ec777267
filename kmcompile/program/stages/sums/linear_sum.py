"""The sum of a linear machine: f_p = <w_p, x> + b_p, with the support vectors summed beforehand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float64Array, RealArray, RealBound
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant
from kmcompile.program.stages.sums.rows import Intercept, Minimum, PerDeviation, PerLength
from kmcompile.program.stages.sums.vectorless_sum import SumOfWeights


@dataclass(frozen=True, slots=True, eq=False)
class LinearSum(SumOfWeights):
    """One plain sum over the features for every decision, `lanes` decisions at a time.

    With w^, x^ as stored, e_p >= |w_p - w^_p|, delta >= |x - x^| and X >= |x^|:
    |f_p - f^_p| <= (gamma_n |w^_p| + e_p) X + (|w^_p| + e_p) delta
    + result_error |f^_p| + minimum_p
    (Higham, eq. 3.5; the last addition rounds once).

    Parameters
    ----------
    weights : ndarray of shape (n_blocks, n_features, lanes), float32
        The weights w of decision `block * lanes + lane`; the last block's padding is 0.
    result_error : float32
    """

    weights: Annotated[
        RealArray,
        Layout(
            "Weights w_p of the decisions, per prepared feature: [block][feature][lane]",
            ("N_BLOCKS", "N_PREPARED", "LANES"),
        ),
    ]
    intercept: Intercept
    per_length: PerLength
    per_deviation: PerDeviation
    minimum: Minimum
    result_error: RealBound

    template: ClassVar[str] = "linear_sum"
    unit: ClassVar[str] = "inner products"

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the indices, and that the blocks of weights are those of all decisions."""
        Laid.check_tables(self, known)
        if len(self.weights) != -(-self.n_decisions // self.lanes):
            raise ValueError("the weights are of other decisions")

    @property
    def n_features(self) -> int:
        """Features of the prepared input."""
        return int(self.weights.shape[1])

    @property
    def lanes(self) -> int:
        """Decisions of a block."""
        return int(self.weights.shape[2])

    @property
    def n_blocks(self) -> int:
        """Blocks of decisions."""
        return int(self.weights.shape[0])

    @property
    def has_padding(self) -> bool:
        """Whether the last block is padded."""
        return self.n_blocks * self.lanes > self.n_decisions

    def constants(self) -> tuple[Constant, ...]:
        """Return the sizes of the table of weights."""
        return (
            Constant("LANES", self.lanes, "decisions of a block, side by side"),
            Constant("N_BLOCKS", self.n_blocks, "the last ones of a group filled up"),
            Constant("BLOCK_WORDS", self.n_features * self.lanes, "N_PREPARED * LANES"),
        )

    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return four times the largest sum of magnitudes, term of the bound or |x|^2."""
        weights = np.abs(self.weights.transpose(0, 2, 1).astype(np.float64))
        if magnitude is None:
            inner = float(np.sqrt((weights**2).sum(axis=2)).max()) * length
        else:
            inner = float((weights @ magnitude).max())
        slack = float(self.per_deviation.max()) * deviation
        return max(4 * inner, 4 * slack, 4 * length**2)

    def run(self, batch: Batch) -> Batch:
        """Return the batch with decisions and bounds."""
        columns = self.weights.transpose(1, 0, 2).reshape(self.n_features, -1)
        columns = np.ascontiguousarray(columns[:, : self.n_decisions])
        decision = np.zeros((len(batch.x), self.n_decisions), dtype=columns.dtype)
        for feature, w in enumerate(columns):
            decision += batch.x[:, feature, None] * w
        decision += self.intercept
        return self.answered(batch, decision, self.bound(batch, decision))

    def operations(self) -> int:
        """Return the multiply-adds, padding included."""
        return int(self.weights.size) + 5 * self.n_decisions
