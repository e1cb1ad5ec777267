"""Another sum in place of the exact sum, compared with it by counted operations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.candidate import Candidate
from kmcompile.program.program import Program


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

    @property
    def candidate(self) -> Candidate:
        """The sum as a candidate among others; it decides no query before its sum."""
        return Candidate((self.name,), float(self.operations.mean()), chosen=True)
