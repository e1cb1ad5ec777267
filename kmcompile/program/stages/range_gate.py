"""The range gate, which sends inputs unlike the calibration samples to the exact sum."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float32Array, finite
from kmcompile.numeric.batch import Batch
from kmcompile.program.shared import Place, Shared
from kmcompile.program.stages.stage import Always


@dataclass(frozen=True, slots=True, eq=False)
class RangeGate(Always):
    """An input is in range if least <= |x|^2 <= largest, x being the prepared input.

    Later early exits test the norm of x's component outside their projections in the same way.

    Parameters
    ----------
    n_features : int
        Features of the prepared input.
    least, largest : float32
        Least and largest |x|^2 of the calibration samples.
    skip_zeros : bool
        Whether the stage `nonzeros` has summed the squares.
    """

    n_features: int
    least: np.float32
    largest: np.float32
    skip_zeros: bool

    template: ClassVar[str] = "range_gate"
    place: ClassVar[Place] = Place.GATE

    def __post_init__(self) -> None:
        for name in ("least", "largest"):
            object.__setattr__(self, name, np.float32(finite(getattr(self, name))))

    @property
    def watches_range(self) -> bool:
        """Whether the stage watches the range: always, it does nothing else."""
        return True

    def run(self, batch: Batch) -> Batch:
        """Return the batch with squares and which queries are in range."""
        square = sum_of_squares(batch.x)
        inside = (square >= self.least) & (square <= self.largest)
        return replace(batch, square=square, in_range=inside)

    def shared(self) -> Shared:
        """Return the number of features of the prepared input."""
        return (("N_PREPARED", self.n_features),)

    def makes(self) -> frozenset[str]:
        """Return the result that later stages may read: "square", which is |x|^2."""
        return frozenset({"square"})

    def needs(self) -> frozenset[str]:
        """Return "square" if the stage `nonzeros` has summed the squares."""
        return frozenset({"nonzeros"} if self.skip_zeros else ())

    def operations(self) -> int:
        """Return the multiply-adds of the squares, or the comparisons."""
        return 2 if self.skip_zeros else self.n_features


def sum_of_squares(x: Float32Array) -> Float32Array:
    """Return sum_j x_j^2, a plain sum in the order of the features."""
    square = np.zeros(len(x), dtype=np.float32)
    for column in x.T:
        square += column * column
    return square
