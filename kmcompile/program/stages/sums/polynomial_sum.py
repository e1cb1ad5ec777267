"""The sum of a polynomial machine over its monomials, with the support vectors multiplied out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import factorial
from typing import Annotated, ClassVar

import numpy as np

from kmcompile.numeric.arrays import (
    Float64Array,
    Positive,
    RealArray,
    RealBound,
    RealBoundArray,
    magnitude,
)
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.shared import Shared
from kmcompile.program.stages.sums.monomial_sum import MonomialSum
from kmcompile.program.stages.sums.rows import Minimum


@dataclass(frozen=True, slots=True, eq=False)
class PolynomialSum(MonomialSum):
    """Nested sums over the features (Horner's scheme), `lanes` decisions at a time.

        f_p = b_p + sum_i x_i (c_pi + sum_(j <= i) x_j (c_pij + sum_(k <= j) x_k (...)))

    Each sum begins with its own coefficient, the outermost with 0, and adds in the order of the
    features. So a coefficient of degree k takes part in k products and at most n + k additions:
    term i of the outermost sum in n - i, term j of the sum below in i - j + 1, and so on; these
    numbers add up to n + k at most, since no index is larger than the one before it.

    With c^, x^ as stored, let C_k be the norm of the coefficients of degree k
    (`Polynomials.weighted_norms`), e_k that of their errors, X >= |x^|, delta >= |x - x^| and
    Y = X + delta. Then sum |c^| |x^^t| <= C_k X^k over the monomials t of degree k (Cauchy and
    Schwarz), and |f_k(x) - f_k(x^)| <= k C_k delta Y^(k - 1), since f_k(x) is a symmetric tensor
    of norm C_k applied to k copies of x, which change one after another. Hence

        |f_p - f^_p| <= sum_k ((gamma_(n + 2k) C_k + e_k) Y + k (C_k + e_k) delta) Y^(k - 1)
        + result_error |f^_p| + minimum_p

    (Higham, lemma 3.1; the addition of b_p rounds once). An operation on a sum of depth k may
    underflow, by eta each; the factors before this sum multiply the error. There are at most 2 n
    operations for each monomial of degree k - 1, and sum |x^t| <= sqrt(number of t) X^(k - 1):
    per_length[k - 1] contains 2 n sqrt(number) eta, twice over for the roundings behind it.

    Parameters
    ----------
    degree : int
        From 1 to 6.
    width : int
        Features of the prepared input.
    terms : ndarray of shape (n_blocks, n_terms, lanes), float32
        The coefficients c in the order of `monomials`; the last block's padding is 0.
    intercept : ndarray of shape (n_decisions,), float32
        b: the intercepts with the constant terms of the polynomials.
    per_length, per_deviation : ndarray of shape (n_decisions, degree), float32
        Column k - 1 has the factors of Y^k and of delta Y^(k - 1).
    result_error : float32
    """

    degree: Positive
    width: int
    terms: Annotated[
        RealArray,
        Layout(
            "Coefficients of the monomials, in the order of nested sums: [block][term][lane]",
            ("N_BLOCKS", "N_TERMS", "LANES"),
        ),
    ]
    intercept: Annotated[
        RealArray,
        Layout(
            "Intercepts of the decisions with the polynomials' constants: [decision]",
            ("N_DECISIONS",),
        ),
    ]
    per_length: Annotated[
        RealBoundArray,
        Layout(
            "Error of the decisions per power of y = |x| + d, from 1: [decision][power]",
            ("N_DECISIONS", "DEGREE"),
            name="bound_per_length",
        ),
    ]
    per_deviation: Annotated[
        RealBoundArray,
        Layout(
            "Error of the decisions per power of y times d, from 0: [decision][power]",
            ("N_DECISIONS", "DEGREE"),
            name="bound_per_deviation",
        ),
    ]
    minimum: Minimum
    result_error: RealBound

    template: ClassVar[str] = "polynomial_sum"

    @property
    def n_features(self) -> int:
        """Features of the prepared input."""
        return self.width

    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return four times the largest sum of magnitudes, term of the bound or |x|^2.

        Inner sums are not multiplied by all features: so a length below 1 counts as 1, and the
        norm of their coefficients is up to sqrt(degree!) times as large.
        """
        reach = max(1.0, length + deviation)
        powers = reach ** np.arange(1, self.degree + 1)
        # per_deviation is k times the norm of the coefficients of degree k, rounded up.
        norms = self.per_deviation.astype(np.float64) / np.arange(1, self.degree + 1)
        inner = float((norms @ powers).max()) * float(np.sqrt(factorial(self.degree)))
        inner += float(np.abs(self.intercept).max())
        return float(max(4 * inner, 4 * self.largest_error(length, deviation), 4 * length**2))

    def run(self, batch: Batch) -> Batch:
        """Return the batch with decisions and bounds."""
        decision = self._nested(batch.x, self.columns()) + self.intercept
        off = self.error_of_input(batch) + magnitude(decision) * self.result_error
        return self.answered(batch, decision, off + self.minimum)

    def _nested(self, x: RealArray, columns: RealArray) -> RealArray:
        """Return the nested sums without the intercepts, shape (n_queries, n_decisions)."""
        total = np.zeros((len(x), columns.shape[1]), dtype=columns.dtype)
        self._add(total, x, iter(columns), self.width, 1)
        return total

    def _add(
        self, total: RealArray, x: RealArray, terms: Iterator[RealArray], end: int, depth: int
    ) -> None:
        """Add the products of the features before `end` with the sums below them, in place."""
        for feature in range(end):
            own = np.broadcast_to(next(terms), total.shape)
            if depth < self.degree:
                own = own.copy()
                self._add(own, x, terms, feature + 1, depth + 1)
            total += x[:, feature, None] * own

    def operations(self) -> int:
        """Return the multiply-adds, padding included: one for each coefficient, and the bound's."""
        return int(self.terms.size) + (2 * self.degree + 4) * self.n_decisions + 1

    def shared(self) -> Shared:
        """Return the features, the blocks of decisions and their number."""
        return (("N_PREPARED", self.width), *Laid.shared(self))
