"""The stage that lists the nonzero features of the prepared input and sums their squares."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.batch import Batch
from kmcompile.program.shared import Place, Shared
from kmcompile.program.stages.input.range_gate import sum_of_squares
from kmcompile.program.stages.stage import Always, Stage


@dataclass(frozen=True, slots=True, eq=False)
class Nonzeros(Always):
    """One pass over the prepared input, in programs whose support vectors are sparse.

    Parameters
    ----------
    n_features : int
        Features of the prepared input.
    """

    n_features: int

    template: ClassVar[str] = "nonzeros"
    place: ClassVar[Place] = Place.LIST

    def run(self, batch: Batch) -> Batch:
        """Return the batch with squares."""
        return replace(batch, square=sum_of_squares(batch.x))

    def shared(self) -> Shared:
        """Return the number of features of the prepared input."""
        return (("N_PREPARED", self.n_features),)

    def stands_before(self, other: Stage) -> bool:
        """Return whether the sum is in floats: integer sums use no list of nonzeros."""
        return not other.takes_codes

    def makes(self) -> frozenset[str]:
        """Return "nonzeros" and "square": the list of nonzero features and |x|^2."""
        return frozenset({"nonzeros", "square"})

    def operations(self) -> int:
        """Return a comparison and a square for each feature."""
        return 2 * self.n_features

    def operations_of(self, batch: Batch) -> NDArray[np.int64]:
        """Return the operations of each query: comparisons, and squares of nonzero features."""
        spent: NDArray[np.int64] = np.count_nonzero(batch.x, axis=1) + np.int64(self.n_features)
        return spent
