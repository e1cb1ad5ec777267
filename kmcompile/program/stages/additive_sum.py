"""The sum of an additive machine: f_p = sum_j g_pj(x_j) + b_p, a table of pieces for each g_pj."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float64Array, Real, RealArray, frozen, magnitude
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import precision_of
from kmcompile.numeric.table import Table
from kmcompile.program.layout import Constant
from kmcompile.program.shared import Shared, sizes
from kmcompile.program.stages.vectorless_sum import VectorlessSum

_REALS = ("weights", "intercept", "per_length", "per_deviation", "minimum", "beyond")


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveSum(VectorlessSum):
    """A sum of functions of one feature each, which are polynomials between knots.

    A binary search finds the piece of x_j: the last one whose knot t is at most x_j, or the first
    one. Its steps depend on the number of pieces only. The piece is the same for every decision,
    and each adds g^(x) = a + c (x - t). Where functions are curved, a piece has a polynomial of
    degree d in y = (x - t) h, h a power of 2 with y <= 1 on the piece, from c_d to c_0 (Horner's
    scheme); `kmcompile.lower.feature_curves` derives how far it is from the function.

    The bound of a decision has three causes, here of lines, of curves in `lower_curves`.

    - Storage: on a bounded piece of length w, g^ and g differ by at most |a - a^| + |c - c^| w and
      by what stored knots move (`FeatureFunction.moved`); the largest sum of a function's pieces
      counts. Before the first knot |c - c^| is multiplied by |x - t| <= |x| + |t|.
    - Rounding: c (x - t) rounds twice. The term of the function q = 0 ... n - 1 rounds once more,
      and takes part in n - q additions (n - 1 for q = 0, which is added to 0). So it is off by at
      most gamma_(n - q + 1) |g^| + gamma_4 |c^ (x - t)| (Higham, section 4.2). Both factors are at
      most what they are at the ends of some piece, but before the first knot. The functions stand
      in ascending order of their sizes, so that large terms take part in few additions.
    - The input's deviation delta: f_p moves by at most delta times the norm of the functions'
      largest slopes.

    All this is known beforehand: with X >= |x|,
    |f_p - f^_p| <= per_length_p X + per_deviation_p delta + minimum_p + result_error |f^_p|.

    Parameters
    ----------
    n_prepared : int
        Features of the prepared input.
    degree : int
        1 if the functions are straight between knots.
    weights : ndarray of shape (n_pieces, 1 + 2 n_decisions), float32
        The pieces of all functions: t, then a of each decision, then c of each decision. Of curves
        (n_pieces, 2 + (degree + 1) n_decisions): t, h, then c_0 of each decision, and so on.
    function_columns : ndarray of shape (n_functions,), uint16
        The feature of each function. A feature that changes no decision has none.
    function_ends : ndarray of shape (n_functions,), uint16
        The piece after the last one of each function.
    intercept, per_length, per_deviation, minimum : ndarray of shape (n_decisions,), float32
    beyond : ndarray of shape (n_decisions,), float32
        What each feature on the last piece of its function adds to the bound; empty if nothing.
    result_error : float32

    References
    ----------
    S. Maji, A. C. Berg, J. Malik, Classification using intersection kernel support vector machines
    is efficient, CVPR 2008, section 3.
    """

    n_prepared: int
    degree: int
    weights: RealArray
    function_columns: np.ndarray
    function_ends: np.ndarray
    intercept: RealArray
    per_length: RealArray
    per_deviation: RealArray
    minimum: RealArray
    beyond: RealArray
    result_error: Real

    template: ClassVar[str] = "additive_sum"
    unit: ClassVar[str] = "functions of one feature"

    def __post_init__(self) -> None:
        dtype = precision_of(self.result_error).dtype
        for name in _REALS:
            object.__setattr__(self, name, frozen(getattr(self, name), dtype))
        for name in ("function_columns", "function_ends"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.uint16))

    @property
    def bound_formula(self) -> str:
        """The terms of a bound that do not depend on |f_p|."""
        terms = "bound_per_length_p |x| + bound_per_deviation_p d + minimum_bound_p"
        return f"{terms} + beyond_bound_p (features beyond)" if self.is_curved else terms

    @property
    def is_curved(self) -> bool:
        """Whether pieces are polynomials of degree 2 or more in a scaled difference."""
        return self.degree > 1

    @property
    def first_coefficients(self) -> int:
        """The word of a piece at which its coefficients begin."""
        return 2 if self.is_curved else 1

    @property
    def n_features(self) -> int:
        """Features of the prepared input."""
        return self.n_prepared

    @property
    def lanes(self) -> int:
        """Decisions that are summed side by side."""
        return 1

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

    def constants(self) -> tuple[Constant, ...]:
        """Return the sizes of the functions' tables."""
        words = self.weights.shape[1]
        n_functions = Constant("N_FUNCTIONS", self.n_functions, "features that change a decision")
        if not self.is_curved:
            return (
                n_functions,
                Constant("N_PIECES", self.n_pieces, "straight pieces of their functions"),
                Constant("PIECE_WORDS", words, "1 + 2 * N_DECISIONS"),
            )
        return (
            n_functions,
            Constant("N_PIECES", self.n_pieces, "pieces of their functions"),
            Constant("CURVE_DEGREE", self.degree, "of the polynomial of a piece"),
            Constant("PIECE_WORDS", words, "2 + (CURVE_DEGREE + 1) * N_DECISIONS"),
        )

    def shared_table(self) -> RealArray:
        """Return the pieces."""
        return self.weights

    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return four times the largest difference, sum of terms, term of the bound or |x|^2.

        On a piece of a curve, |y| <= 1 but on the last one, which is straight.
        """
        x = np.full(self.n_prepared, length) if magnitude is None else magnitude
        total, largest, first = np.zeros(self.n_decisions), 0.0, 0
        for column, end in zip(self.function_columns, self.function_ends.astype(int), strict=True):
            piece = np.abs(self.weights[first:end].astype(np.float64))
            if self.is_curved:
                reach = float((x[column] + piece[-1, 0]) * max(1.0, piece[-1, 1]))
                curves = piece[:, 2:].reshape(len(piece), self.degree + 1, self.n_decisions)
                total += curves.sum(axis=1).max(axis=0) + curves[-1, 1] * reach
                largest, first = max(largest, reach), end
                continue
            values, slopes = np.split(piece[:, 1:], 2, axis=1)
            reach = float(x[column] + piece[:, 0].max())
            # Between knots a product is at most the difference of two values.
            total += 3 * values.max(axis=0) + slopes[0] * reach
            largest, first = max(largest, reach), end
        slack = float(self.per_deviation.max()) * deviation
        return 4 * max(float(total.max()), largest, slack, length**2)

    def run(self, batch: Batch) -> Batch:
        """Return the batch with decisions and bounds."""
        real = self.weights.dtype.type
        decision = np.zeros((len(batch.x), self.n_decisions), dtype=real)
        beyond = np.zeros((len(batch.x), 1), dtype=real)
        first = 0
        for column, end in zip(self.function_columns, self.function_ends, strict=True):
            pieces, x = self.weights[first:end], batch.x[:, column]
            place = np.searchsorted(pieces[1:, 0], x, side="right")
            decision += self._values(pieces[place], x)
            beyond += np.where(place + 1 == len(pieces), real(1.0), real(0.0))[:, None]
            first = end
        decision += self.intercept
        bound = (
            self.per_length * batch.length[:, None]
            + self.per_deviation * batch.deviation[:, None]
            + magnitude(decision) * self.result_error
            + self.minimum
        )
        if self.is_curved:
            bound += beyond * self.beyond
        return replace(
            batch,
            decision=decision,
            bound=bound,
            kernel_evals=batch.kernel_evals + np.uint32(self.n_functions),
        )

    def _values(self, piece: RealArray, x: RealArray) -> RealArray:
        """Return the functions of one feature, shape (n_queries, n_decisions).

        Parameters
        ----------
        piece : ndarray of shape (n_queries, n_words)
            The words of each query's piece.
        x : ndarray of shape (n_queries,)
        """
        y = x - piece[:, 0]
        if self.is_curved:
            y = y * piece[:, 1]
        words = piece[:, self.first_coefficients :]
        coefficients = words.reshape(len(x), self.degree + 1, self.n_decisions)
        value: RealArray = coefficients[:, self.degree]
        for k in range(self.degree - 1, -1, -1):
            value = coefficients[:, k] + value * y[:, None]
        return value

    def shared(self) -> Shared:
        """Return the features and the number of decisions."""
        rows = [self.intercept, self.per_length, self.per_deviation, self.minimum]
        rows += [self.beyond] * self.is_curved
        words = self.weights.shape[1] - self.first_coefficients
        return (
            ("N_PREPARED", self.n_prepared),
            ("N_DECISIONS", words // (self.degree + 1)),
            *(size for row in rows for size in sizes(row, "N_DECISIONS")),
        )

    def operations(self) -> int:
        """Return the comparisons, one difference a function, its values, and the bounds.

        Of a line a and c (x - t) count as two. A curve has a scaled difference and is compared
        with its last piece once more.
        """
        if self.is_curved:
            curves = self.n_functions * (4 + (self.degree + 1) * self.n_decisions)
            return sum(self.steps) + curves + 6 * self.n_decisions
        lines = self.n_functions * (1 + 2 * self.n_decisions)
        return sum(self.steps) + lines + 5 * self.n_decisions

    def kernel_evaluations(self) -> int:
        """Return the number of functions."""
        return self.n_functions

    def tables(self) -> tuple[Table, ...]:
        """Return the pieces of the functions, their places and the constants of the bounds."""
        words = "[piece][knot t, a of each decision, c of each decision]"
        further: tuple[Table, ...] = ()
        if self.is_curved:
            words = "[piece][knot t, scale h, then c_0 of each decision, c_1 and so on]"
            text = "Error of the decisions per feature beyond its last knot: [decision]"
            further = (Table("beyond_bound", self.beyond, text),)
        return (
            Table("weights", self.weights, f"Pieces of the functions: {words}"),
            Table(
                "function_columns", self.function_columns, "Features of the functions: [function]"
            ),
            Table(
                "function_ends",
                self.function_ends,
                "Piece after the last one of each function: [function]",
            ),
            Table("intercept", self.intercept, "Intercepts b_p of the decisions: [decision]"),
            Table(
                "bound_per_length", self.per_length, "Error of the decisions per |x|: [decision]"
            ),
            Table(
                "bound_per_deviation",
                self.per_deviation,
                "Error of the decisions per |x - prepared x|: [decision]",
            ),
            Table(
                "minimum_bound",
                self.minimum,
                "Part of the decisions' bound that no input changes: [decision]",
            ),
            *further,
        )
