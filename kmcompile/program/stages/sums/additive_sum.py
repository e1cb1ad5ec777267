"""The sum of an additive machine whose functions are straight between knots."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kmcompile.numeric.arrays import Float64Array, RealArray
from kmcompile.program.layout import Constant
from kmcompile.program.stages.sums.piecewise_sum import PiecewiseSum


@dataclass(frozen=True, slots=True, eq=False)
class AdditiveSum(PiecewiseSum):
    """A sum of functions of one feature each, which are straight between knots.

    A piece is a line of each decision, g^(x) = a + c (x - t). Its words are t, then a of each
    decision, then c of each decision.

    The bound of a decision has three causes.

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

    References
    ----------
    S. Maji, A. C. Berg, J. Malik, Classification using intersection kernel support vector machines
    is efficient, CVPR 2008, section 3.
    """

    template: ClassVar[str] = "additive_sum"
    words: ClassVar[str] = "[piece][knot t, a of each decision, c of each decision]"
    first_coefficient: ClassVar[int] = 1
    n_coefficients: ClassVar[int] = 2

    def constants(self) -> tuple[Constant, ...]:
        """Return the sizes of the functions' tables."""
        return (
            Constant("N_FUNCTIONS", self.n_functions, "features that change a decision"),
            Constant("N_PIECES", self.n_pieces, "straight pieces of their functions"),
            Constant("PIECE_WORDS", self.weights.shape[1], "1 + 2 * N_DECISIONS"),
        )

    def largest_values(self, pieces: Float64Array, x: float) -> tuple[Float64Array, float]:
        """Return bounds on a + c (x - t), for each decision, and on x - t.

        Between knots a product is at most the difference of two values.
        """
        values, slopes = np.split(pieces[:, 1:], 2, axis=1)
        difference = float(x + pieces[:, 0].max())
        return 3 * values.max(axis=0) + slopes[0] * difference, difference

    def values(self, piece: RealArray, x: RealArray) -> RealArray:
        """Return a + c (x - t), shape (n_queries, n_decisions)."""
        a, c = np.split(piece[:, 1:], 2, axis=1)
        value: RealArray = a + c * (x - piece[:, 0])[:, None]
        return value

    def operations(self) -> int:
        """Return the comparisons, one difference and two terms a function, and the bounds."""
        lines = self.n_functions * (1 + 2 * self.n_decisions)
        return sum(self.steps) + lines + 5 * self.n_decisions
