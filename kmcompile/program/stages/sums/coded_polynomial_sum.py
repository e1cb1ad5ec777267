"""The sum of a polynomial machine over its monomials, in integers: its inputs are codes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Bound, BoundArray, Float64Array, Positive
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Layout
from kmcompile.program.stages.sums.code_range import CodeRange
from kmcompile.program.stages.sums.monomial_sum import MonomialSum
from kmcompile.program.stages.sums.nested_loops import order_of_terms
from kmcompile.program.stages.sums.rows import Minimum
from kmcompile.program.stages.sums.sum_of_codes import SumOfCodes

Whole = NDArray[np.int64]
_Terms = Iterator[Whole]

_WORD = np.float32(2.0**32)
_LARGEST_SUM = 2.0**62
_MOST_SHIFT = 31


@dataclass(frozen=True, slots=True, eq=False)
class CodedPolynomialSum(MonomialSum, SumOfCodes):
    """Nested sums over the features (Horner's scheme) in integers of 64 bits.

    x is unit X, X integers, the codes of the input (`kmcompile.steps.Quantize`). With integers C,

        S_i = 2^r_1 C_i + sum_(j <= i) X_j floor(S_ij / 2^r_2),

    and so on up to the last degree, where the sums are their coefficients,

        f_p = step (start_p + sum_i X_i floor(S_i / 2^r_1)).

    So a coefficient of degree k is C times a step of this degree. The steps of higher degrees are
    finer, as their coefficients are smaller. No sum reaches 2^62 for codes from `low` to `high`,
    which the lowering proves; with a damaged table sums are what they are modulo 2^64.

    The bound of a decision has four causes. A coefficient is rounded, by at most half a step of its
    degree, and its sum is rounded down, by less than a step: with e_k the norm of both in the
    coefficients of degree k (`Polynomials.weighted_norms`), in units of x, this moves f_p by at
    most e_k |x|^k. e_k also has what support vectors and coefficients lost in float64 before. The
    input's distance delta from its codes moves a polynomial of degree k, whose coefficients have
    the norm C_k, by at most k C_k delta Y^(k - 1), with Y = |x| + delta (`PolynomialSum`). The
    constant is rounded: minimum_p. The sum becomes float32, which rounds three times: its two
    words, and their sum. Hence

        |f_p - f^_p| <= sum_k (e_k Y + k C_k delta) Y^(k - 1) + result_error |f^_p| + minimum_p.

    Parameters
    ----------
    codes : CodeRange
    per_unit : float32
        1 / unit, a power of two.
    degree : int
        From 1 to 6.
    terms : ndarray of shape (n_blocks, n_terms, lanes), int32
        The coefficients C in the order of `monomials`; the last block's padding is 0.
    shifts : ndarray of shape (degree,), uint8
        r_k, the binary logarithm of the step of degree k in those of degree k + 1; 0 at last.
    start : ndarray of shape (n_decisions, 2), uint64
        The intercepts with the constants of the polynomials, what is > 0 and what is < 0.
    result_scale : float32
        The step of degree 1, a power of two.
    result_error : float32
    per_length, per_deviation : ndarray of shape (n_decisions, degree), float32
        Column k - 1 has the factors of Y^k and of delta Y^(k - 1).
    weight : int
        Multiply-adds of codes that take as many instructions as one of 64 bits.
    """

    codes: CodeRange = field()
    per_unit: Bound
    degree: Positive
    terms: Annotated[
        NDArray[np.int32],
        Layout(
            "Coefficients of the monomials, in the order of nested sums: [block][term][lane]",
            ("N_BLOCKS", "N_TERMS", "LANES"),
        ),
    ]
    shifts: Annotated[NDArray[np.uint8], Layout("", ("DEGREE",))]
    start: Annotated[
        NDArray[np.uint64],
        Layout(
            "Constants of the decisions, what is > 0 and what is < 0: [decision][part]",
            ("N_DECISIONS", 2),
        ),
    ]
    result_scale: Bound
    result_error: Bound
    per_length: Annotated[
        BoundArray,
        Layout(
            "Error of the decisions per power of y = |x| + d, from 1: [decision][power]",
            ("N_DECISIONS", "DEGREE"),
            name="bound_per_length",
        ),
    ]
    per_deviation: Annotated[
        BoundArray,
        Layout(
            "Error of the decisions per power of y times d, from 0: [decision][power]",
            ("N_DECISIONS", "DEGREE"),
            name="bound_per_deviation",
        ),
    ]
    minimum: Minimum
    weight: Positive

    template: ClassVar[str] = "coded_polynomial_sum"

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the monomials, and that no sum reaches 2^62."""
        MonomialSum.check_tables(self, known)
        if self.shifts[-1] or self.shifts.max() > _MOST_SHIFT:
            raise ValueError(f"a sum is shifted by more than {_MOST_SHIFT} bits, or the last one")
        if self._largest_sum() >= _LARGEST_SUM:
            raise ValueError("a sum of the polynomial reaches 2^62 at some codes")

    def _largest_sum(self) -> float:
        """Return a bound on all sums; a sum of magnitudes bounds its partial sums, too."""
        depths, parents = order_of_terms(self.n_features, self.degree)
        ratios = 2.0 ** self.shifts.astype(np.float64)
        sums = np.abs(self.columns().astype(np.float64)) * ratios[depths - 1, None]
        sums = np.concatenate([self.start.sum(axis=1, dtype=np.float64)[None], sums])
        for depth in range(self.degree, 0, -1):
            own = np.flatnonzero(depths == depth) + 1
            factors = sums[own] / ratios[depth - 1] + (depth < self.degree)
            np.add.at(sums, parents[own - 1], factors * self.codes.largest)
        return float(sums.max())

    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return four times the largest decision, term of the bound or |x|^2."""
        slack = self.largest_error(length, deviation)
        return float(max(2.0**65 * float(self.result_scale), 4 * slack, 4 * length**2))

    def run(self, batch: Batch) -> Batch:
        """Return the batch with decisions and bounds; x holds multiples of the unit."""
        units = self.sums((batch.x * self.per_unit).astype(np.int64))
        words = np.abs(units).astype(np.uint64)
        high = (words >> np.uint64(32)).astype(np.uint32).astype(np.float32)
        low = (words & np.uint64(0xFFFFFFFF)).astype(np.uint32).astype(np.float32)
        size = (high * _WORD + low) * self.result_scale
        bound = (self.error_of_input(batch) + size * self.result_error) + self.minimum
        return self.answered(batch, np.where(units >= 0, size, -size), bound)

    def sums(self, codes: Whole) -> Whole:
        """Return the decisions of codes in steps, shape (n_queries, n_decisions)."""
        terms = iter(self.columns().astype(np.int64))
        total = np.zeros((len(codes), self.n_decisions), dtype=np.int64)
        self._add(total, codes, terms, self.n_features, 1)
        start = self.start.astype(np.int64)
        total += start[:, 0] - start[:, 1]
        return total

    def _add(
        self, total: Whole, codes: Whole, terms: Iterator[Whole], end: int, depth: int
    ) -> None:
        """Add the products of the features before `end` with the sums below them, in place."""
        shift = self.shifts[depth - 1]
        for feature in range(end):
            own = np.broadcast_to(next(terms) << shift, total.shape)
            if depth < self.degree:
                own = own.copy()
                self._add(own, codes, terms, feature + 1, depth + 1)
                own >>= shift
            total += codes[:, feature, None] * own

    def operations(self) -> int:
        """Return the multiply-adds: those of 64 bits count as several of codes."""
        last = (2 * self.degree + 8) * self.n_decisions + 1
        return self.weight * int(self.terms.size) + last
