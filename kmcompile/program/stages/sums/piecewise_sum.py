"""What sums of functions of single features share: f_p = sum_j g_pj(x_j) + b_p, by pieces."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array, RealArray, RealBound
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Below
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.shared import Shared
from kmcompile.program.stages.sums.rows import Intercept, Minimum, PerDeviation, PerLength
from kmcompile.program.stages.sums.vectorless_sum import SumOfWeights


@dataclass(frozen=True, slots=True, eq=False)
class PiecewiseSum(SumOfWeights):
    """A sum of functions of one feature each, a table of pieces for each function.

    A binary search finds the piece of x_j: the last one whose knot t is at most x_j, or the first
    one. Its steps depend on the number of pieces only. The piece is the same for every decision.
    A piece is a row of words: its knot t comes first, and its coefficients last, one of each
    decision, then the next one of each decision.

    Parameters
    ----------
    n_prepared : int
        Features of the prepared input.
    weights : ndarray of shape (n_pieces, n_words), float32
        The pieces of all functions.
    function_columns : ndarray of shape (n_functions,), uint16
        The feature of each function. A feature that changes no decision has none.
    function_ends : ndarray of shape (n_functions,), uint16
        The piece after the last one of each function.
    per_deviation, minimum : ndarray of shape (n_decisions,), float32
    result_error : float32
        |f_p - f^_p| <= per_length_p |x| + per_deviation_p delta + minimum_p + result_error |f^_p|
        with delta >= the input's distance from the exactly prepared one.
    """

    n_prepared: int
    weights: Annotated[RealArray, Layout("Pieces of the functions: {self.words}")]
    function_columns: Annotated[
        NDArray[np.uint16],
        Layout("Features of the functions: [function]", ("functions",), below=Below("N_PREPARED")),
    ]
    function_ends: Annotated[
        NDArray[np.uint16],
        Layout(
            "Piece after the last one of each function: [function]",
            ("functions",),
            below=Below("self.n_pieces", rises=True),
        ),
    ]
    intercept: Intercept
    per_length: PerLength
    per_deviation: PerDeviation
    minimum: Minimum
    result_error: RealBound

    unit: ClassVar[str] = "functions of one feature"
    lanes: ClassVar[int] = 1

    words: ClassVar[str]
    """The words of a piece, for the comment on their table."""

    first_coefficient: ClassVar[int]
    """The word of a piece at which its coefficients begin."""

    @property
    @abstractmethod
    def n_coefficients(self) -> int:
        """Coefficients of a piece for each decision."""

    @abstractmethod
    def values(self, piece: RealArray, x: RealArray) -> RealArray:
        """Return the functions of one feature, shape (n_queries, n_decisions).

        Parameters
        ----------
        piece : ndarray of shape (n_queries, n_words)
            The words of each query's piece.
        x : ndarray of shape (n_queries,)
        """

    @abstractmethod
    def largest_values(self, pieces: Float64Array, x: float) -> tuple[Float64Array, float]:
        """Return bounds on the intermediate results of one function.

        Parameters
        ----------
        pieces : ndarray of shape (n_pieces, n_words), float64
            Magnitudes of the words.
        x : float
            Largest magnitude of the feature.

        Returns
        -------
        of_decisions : ndarray of shape (n_decisions,), float64
        difference : float
            Of the feature from a knot, scaled if functions are of scaled differences.
        """

    @property
    def n_features(self) -> int:
        """Features of the prepared input."""
        return self.n_prepared

    @property
    def n_functions(self) -> int:
        """Features that change a decision."""
        return len(self.function_columns)

    @property
    def n_pieces(self) -> int:
        """Pieces of all functions."""
        return len(self.weights)

    @property
    def steps(self) -> tuple[int, ...]:
        """The steps of each function's search, which halves the pieces that are left."""
        lengths = np.diff(self.function_ends.astype(int), prepend=0)
        return tuple((int(length) - 1).bit_length() for length in lengths)

    @property
    def most_steps(self) -> int:
        """The steps of one search, whatever `function_ends` holds: every piece belongs to one."""
        return (self.n_pieces - 1).bit_length()

    @property
    def most_steps_of_all(self) -> int:
        """The steps of all searches, whatever `function_ends` holds.

        k + 1 steps need 2^k + 1 pieces. All searches take most steps if the pieces are spread
        evenly: each takes one more as long as there are pieces for that.
        """
        left, steps, k = self.n_pieces - self.n_functions, 0, 0
        while left > 0:
            needed = 1 << max(k - 1, 0)
            longer = min(self.n_functions, left // needed)
            left -= longer * needed
            steps, k = steps + longer, k + 1
            if longer < self.n_functions:
                break
        return steps

    def functions(self) -> Iterator[tuple[int, RealArray]]:
        """Yield the feature of each function and its pieces, shape (n_pieces, n_words)."""
        first = 0
        for column, end in zip(self.function_columns, self.function_ends, strict=True):
            yield int(column), self.weights[first:end]
            first = end

    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return four times the largest difference, sum of terms, term of the bound or |x|^2."""
        x = np.full(self.n_prepared, length) if magnitude is None else magnitude
        total, largest = np.zeros(self.n_decisions), 0.0
        for column, pieces in self.functions():
            terms, difference = self.largest_values(
                np.abs(pieces.astype(np.float64)), float(x[column])
            )
            total += terms
            largest = max(largest, difference)
        slack = float(self.per_deviation.max()) * deviation
        return 4 * max(float(total.max()), largest, slack, length**2)

    def run(self, batch: Batch) -> Batch:
        """Return the batch with decisions and bounds."""
        real = self.weights.dtype.type
        decision = np.zeros((len(batch.x), self.n_decisions), dtype=real)
        on_last = np.zeros((len(batch.x), 1), dtype=real)
        for column, pieces in self.functions():
            x = batch.x[:, column]
            place = np.searchsorted(pieces[1:, 0], x, side="right")
            decision += self.values(pieces[place], x)
            on_last += np.where(place + 1 == len(pieces), real(1.0), real(0.0))[:, None]
        decision += self.intercept
        bound = self.widened(self.bound(batch, decision), on_last)
        return self.answered(batch, decision, bound)

    def widened(self, bound: RealArray, on_last: RealArray) -> RealArray:
        """Return the bounds, with what features on the last piece of their function add to them.

        Parameters
        ----------
        bound : ndarray of shape (n_queries, n_decisions)
        on_last : ndarray of shape (n_queries, 1)
            How many features there are.
        """
        return bound

    def kernel_evaluations(self) -> int:
        """Return the number of functions."""
        return self.n_functions

    def shared(self) -> Shared:
        """Return the features and the number of decisions."""
        words = self.weights.shape[1] - self.first_coefficient
        own = (("N_PREPARED", self.n_prepared), ("N_DECISIONS", words // self.n_coefficients))
        return (*own, *Laid.shared(self))
