"""Another sum in place of the exact sum, compared with it by estimated instructions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.prices import price_of_sum
from kmcompile.program.program import Program
from kmcompile.target import Cost


@dataclass(frozen=True, slots=True, eq=False)
class SumOffer:
    """A program with another sum in place of the exact sum, and what it costs.

    Parameters
    ----------
    name : str
        Name of the sum's stage.
    program : Program
    operations : ndarray of shape (n_samples,), int64
        Multiply-adds of the sum and the label, for each sample.
    notes : tuple of str
        What the user should know of the choice if the sum is chosen.
    """

    name: str
    program: Program
    operations: NDArray[np.int64]
    notes: tuple[str, ...] = ()

    def candidate(self, cost: Cost, shares: Float64Array | None = None) -> Candidate:
        """Return the sum as a candidate among others; it decides no query before its sum.

        Parameters
        ----------
        cost : Cost
            Costs of the target.
        shares : ndarray of shape (n_samples,), float64, optional
            How much each sample counts, in all 1; by default all count the same.
        """
        mean = float(np.average(self.operations, weights=shares))
        return Candidate((self.name,), mean, True, self.instructions(cost, shares))

    def instructions(self, cost: Cost, shares: Float64Array | None = None) -> float:
        """Return the estimated instructions of the mean of the samples."""
        mean = float(np.average(self.operations, weights=shares))
        return price_of_sum(self.program.ends, cost).of(mean)
