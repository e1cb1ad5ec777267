"""The range gate, which sends inputs unlike the calibration samples to the exact sum."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, finite
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.shared import Place, Shared
from kmcompile.program.stages.stage import Always

_LEVELS = 6
"""Intervals of |x|^2. The last one leaves out a share of 2^-6, half of it on each side."""


@dataclass(frozen=True, slots=True, eq=False)
class RangeGate(Always):
    """An input is in range if least <= |x|^2 <= largest, x being the prepared input.

    Later early exits test the norm of x's component outside their projections in the same way.

    Where the preparation ends by dividing inputs by their Euclidean norm (`divided`), |x|^2 says
    nothing: it is 1 up to rounding, and is not summed. Only a row of nearly zeros, which stays
    undivided, has another length. `Normalize` tells it by the bound on the error of x: that of a
    divided row is at least `relative` and less than `unknown`, that of a row that stays is less
    than `relative`, and that of a row of which neither is certain is `unknown`. So
    least <= deviation <= largest, with `least` = relative and `largest` just below unknown, lets
    through no row but divided ones: no input is answered early that the range of |x|^2 would have
    sent to the sum, but for differences of length that are rounding. Later exits get |x|^2 = 1,
    the square of all features, also of those that no vector has and that are not computed.

    Parameters
    ----------
    n_features : int
        Features of the prepared input.
    least, largest : float32
        Least and largest |x|^2 of the calibration samples; with `divided`, of the bound on the
        error of a divided x.
    skip_zeros : bool
        Whether the stage `nonzeros` has summed the squares.
    divided : bool
        Whether the preparation divides x by its norm, and |x|^2 is taken as 1.
    usual : ndarray of shape (n_levels, 2), float32
        Row k - 1 has the ends of an interval of |x|^2 that holds about 1 - 2^-k of the calibration
        samples. Each interval holds those before it. None if |x|^2 says nothing.

    References
    ----------
    D. DeCoste and D. Mazzoni (2003), section 5.2: queries should be checked "with probability
    proportional to dissimilarity of a query to the training data as a whole". `dissimilarity` is
    that probability up to a factor.
    """

    n_features: int
    least: np.float32
    largest: np.float32
    skip_zeros: bool
    divided: bool = False
    usual: Annotated[Float32Array, Layout("", clipped=True)] = field(
        default_factory=lambda: np.zeros((0, 2), dtype=np.float32)
    )

    template: ClassVar[str] = "range_gate"
    place: ClassVar[Place] = Place.GATE
    watches_range: ClassVar[bool] = True

    def __post_init__(self) -> None:
        for name in ("least", "largest"):
            object.__setattr__(self, name, np.float32(finite(getattr(self, name))))
        Laid.__post_init__(self)
        if self.skip_zeros and self.divided:
            raise ValueError("range_gate: with skip_zeros |x|^2 is summed, it is not taken as 1")
        inside = np.vstack([self.usual, [[self.least, self.largest]]])
        if len(self.usual) and (self.divided or (np.diff(inside, axis=0) * (1, -1) > 0).any()):
            raise ValueError("range_gate: intervals of |x|^2 must hold each other, up to the range")

    def run(self, batch: Batch) -> Batch:
        """Return the batch with squares and which queries are in range."""
        square = self.square(batch.x)
        tested = batch.deviation if self.divided else square
        inside = (tested >= self.least) & (tested <= self.largest)
        return replace(batch, square=square, in_range=inside)

    def square(self, x: Float32Array) -> Float32Array:
        """Return the |x|^2 of prepared inputs as later exits get it, shape (n_queries,)."""
        return np.ones(len(x), dtype=np.float32) if self.divided else sum_of_squares(x)

    def dissimilarity(self, square: Float32Array) -> NDArray[np.uint32]:
        """Return about 1 over the share of the calibration samples that lie as far out.

        It is 2^k for the largest k such that |x|^2 is outside interval k, and 1 inside all of them.

        Parameters
        ----------
        square : ndarray of shape (n_queries,), float32
            |x|^2.
        """
        beyond = (square[:, None] < self.usual[:, 0]) | (square[:, None] > self.usual[:, 1])
        found: NDArray[np.uint32] = np.uint32(1) << beyond.sum(axis=1).astype(np.uint32)
        return found

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
        return 2 if self.skip_zeros or self.divided else self.n_features


def usual_squares(square: Float32Array) -> Float32Array:
    """Return `RangeGate.usual` of the |x|^2 of calibration samples, shape (n_samples,)."""
    shares = 2.0 ** -np.arange(2.0, _LEVELS + 2.0)
    least = np.quantile(square, shares, method="inverted_cdf")
    largest = np.quantile(square, 1 - shares, method="inverted_cdf")
    usual: Float32Array = np.column_stack([least, largest]).astype(np.float32)
    return usual


def sum_of_squares(x: Float32Array) -> Float32Array:
    """Return sum_j x_j^2, a plain sum in the order of the features."""
    square = np.zeros(len(x), dtype=np.float32)
    for column in x.T:
        square += column * column
    return square
