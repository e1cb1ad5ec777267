"""Lists the features of the prepared input that are not 0, for the sums that skip the others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from kmcompile.ir.batch import Batch
from kmcompile.stages.stage import Always


@dataclass(frozen=True, slots=True, eq=False)
class Nonzeros(Always):
    """One pass over the input; stands in a program whose calibration inputs are sparse.

    Parameters
    ----------
    n_features : int
        Features of the prepared input.
    """

    n_features: int

    template: ClassVar[str] = "nonzeros"

    def run(self, batch: Batch) -> Batch:
        """Return the batch: the list changes no value."""
        return batch

    def operations(self) -> int:
        """Return a comparison for each feature."""
        return self.n_features
