"""The sum of an additive machine whose functions are curved: polynomials between knots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, ClassVar

from kmcompile.numeric.arrays import Float64Array, Positive, RealArray, RealBoundArray
from kmcompile.program.laid import Layout
from kmcompile.program.layout import Constant
from kmcompile.program.stages.sums.piecewise_sum import PiecewiseSum


@dataclass(frozen=True, slots=True, eq=False)
class CurveSum(PiecewiseSum):
    """A sum of functions of one feature each, which polynomials approximate between knots.

    A piece has a polynomial of degree d of each decision in y = (x - t) h, h a power of 2 with
    y <= 1 on the piece. Its words are t and h, then c_0 of each decision, then c_1, up to c_d. It
    is evaluated from c_d to c_0 (Horner's scheme). `kmcompile.lower.feature_curves` derives how far
    it is from the function. The last piece of a function has no end and is straight.

    The bound of a decision has four causes. Where it is as with lines, `AdditiveSum` says why.

    - Approximation: `FeatureCurve.errors`. The largest error of a function's pieces with an end
      counts for every input, that of a last piece for features that are beyond the last knot.
    - Storage: as y <= 1, g^ is off by at most sum_k |c_k - c^_k|. On a last piece, which is a
      straight line, |c_1 - c^_1| is multiplied by y <= x h.
    - Rounding: y rounds once, as h is a power of 2. c_k y^k has k factors y, k products and at most
      k + 1 additions: 3 k + 1 roundings, c_0 one (Higham, section 5.1). The term of the function
      q = 0 ... n - 1 takes part in n - q additions.
    - The input's deviation: as with lines. Inputs and exact inputs are 0 or more.

    Parameters
    ----------
    degree : int
        d, 2 or more.
    beyond : ndarray of shape (n_decisions,), float32
        What each feature on the last piece of its function adds to the bound.
    """

    degree: Positive
    beyond: Annotated[
        RealBoundArray,
        Layout(
            "Error of the decisions per feature beyond its last knot: [decision]",
            ("N_DECISIONS",),
            name="beyond_bound",
        ),
    ]

    template: ClassVar[str] = "curve_sum"
    words: ClassVar[str] = "[piece][knot t, scale h, then c_0 of each decision, c_1 and so on]"
    first_coefficient: ClassVar[int] = 2
    bound_formula: ClassVar[str] = (
        f"{PiecewiseSum.bound_formula} + beyond_bound_p (features beyond)"
    )

    @property
    def n_coefficients(self) -> int:
        """Coefficients of a piece for each decision: c_0 to c_d."""
        return self.degree + 1

    def constants(self) -> tuple[Constant, ...]:
        """Return the sizes of the functions' tables."""
        words = "2 + (CURVE_DEGREE + 1) * N_DECISIONS"
        return (
            Constant("N_FUNCTIONS", self.n_functions, "features that change a decision"),
            Constant("N_PIECES", self.n_pieces, "pieces of their functions"),
            Constant("CURVE_DEGREE", self.degree, "of the polynomial of a piece"),
            Constant("PIECE_WORDS", self.weights.shape[1], words),
        )

    def largest_values(self, pieces: Float64Array, x: float) -> tuple[Float64Array, float]:
        """Return bounds on the polynomials, of each decision, and on y.

        |y| <= 1 but on the last piece, which is straight.
        """
        y = float((x + pieces[-1, 0]) * max(1.0, pieces[-1, 1]))
        curves = self._coefficients(pieces)
        sizes: Float64Array = curves.sum(axis=1).max(axis=0) + curves[-1, 1] * y
        return sizes, y

    def values(self, piece: RealArray, x: RealArray) -> RealArray:
        """Return the polynomials in (x - t) h, shape (n_queries, n_decisions)."""
        y = (x - piece[:, 0]) * piece[:, 1]
        coefficients = self._coefficients(piece)
        value: RealArray = coefficients[:, self.degree]
        for k in range(self.degree - 1, -1, -1):
            value = coefficients[:, k] + value * y[:, None]
        return value

    def _coefficients(self, piece: RealArray) -> RealArray:
        """Return the coefficients of pieces, shape (n, degree + 1, n_decisions)."""
        words = piece[:, self.first_coefficient :]
        return words.reshape(len(piece), self.n_coefficients, self.n_decisions)

    def widened(self, bound: RealArray, on_last: RealArray) -> RealArray:
        """Return the bounds with what is added for each feature beyond its last knot."""
        wider: RealArray = bound + on_last * self.beyond
        return wider

    def operations(self) -> int:
        """Return the comparisons, the polynomials and the bounds.

        A function has a scaled difference and is compared with its last piece once more.
        """
        curves = self.n_functions * (4 + self.n_coefficients * self.n_decisions)
        return sum(self.steps) + curves + 6 * self.n_decisions
