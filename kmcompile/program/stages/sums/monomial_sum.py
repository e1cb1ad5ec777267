"""A sum over monomials in nested loops: what those in floats and in integers have in common."""

from __future__ import annotations

from collections.abc import Mapping
from math import comb
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Positive, RealArray
from kmcompile.numeric.batch import Batch
from kmcompile.program.layout import Constant
from kmcompile.program.stages.sums.nested_loops import MOST_DEGREE, NestedLoop, nested_loops
from kmcompile.program.stages.sums.vectorless_sum import VectorlessSum


class MonomialSum(VectorlessSum):
    """Nested sums over the features (Horner's scheme), `lanes` decisions at a time.

    Parameters
    ----------
    degree : int
        From 1 to 6.
    terms : ndarray of shape (n_blocks, n_terms, lanes)
        The coefficients in the order of `monomials`; the last block's padding is 0.
    per_length, per_deviation : ndarray of shape (n_decisions, degree)
        Column k - 1 has the factors of y^k and of delta y^(k - 1), y = length + delta.
    """

    degree: Positive
    terms: NDArray[Any]
    per_length: RealArray
    per_deviation: RealArray

    unit: ClassVar[str] = "polynomials"
    bound_formula: ClassVar[str] = (
        "sum_k (bound_per_length_pk (|x| + d) + bound_per_deviation_pk d) (|x| + d)^(k - 1) "
        "+ minimum_bound_p"
    )

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the indices, and that each monomial has a coefficient."""
        super().check_tables(known)
        if not 1 <= self.degree <= MOST_DEGREE:
            raise ValueError(f"the degree is {self.degree}, not from 1 to {MOST_DEGREE}")
        n = comb(self.n_features + self.degree, self.degree) - 1
        fits = (self.n_blocks - 1) * self.lanes < self.n_decisions <= self.n_blocks * self.lanes
        if self.n_terms != n or not fits:
            raise ValueError(f"the blocks of coefficients are not those of {n} monomials")

    @property
    def has_powers(self) -> bool:
        """Whether there are products of features."""
        return self.degree > 1

    @property
    def lanes(self) -> int:
        """Decisions of a block."""
        return int(self.terms.shape[2])

    @property
    def n_blocks(self) -> int:
        """Blocks of decisions."""
        return int(self.terms.shape[0])

    @property
    def n_terms(self) -> int:
        """Coefficients of a decision."""
        return int(self.terms.shape[1])

    @property
    def has_padding(self) -> bool:
        """Whether the last block is padded."""
        return self.n_blocks * self.lanes > self.n_decisions

    @property
    def loops(self) -> NestedLoop:
        """The loops of the C over the features: the outermost, with those inside."""
        return nested_loops(self.n_features, self.degree)

    def constants(self) -> tuple[Constant, ...]:
        """Return the sizes of the table of coefficients, and the degree."""
        return (
            Constant("DEGREE", self.degree, "of the polynomials"),
            Constant("LANES", self.lanes, "decisions of a block, side by side"),
            Constant("N_BLOCKS", self.n_blocks, "blocks of decisions, the last one filled up"),
            Constant("BLOCK_WORDS", self.n_terms * self.lanes, "coefficients of a block"),
        )

    def columns(self) -> NDArray[Any]:
        """Return the coefficients of each term, shape (n_terms, n_decisions)."""
        columns = self.terms.transpose(1, 0, 2).reshape(self.n_terms, -1)
        return np.ascontiguousarray(columns[:, : self.n_decisions])

    def error_of_input(self, batch: Batch) -> RealArray:
        """Return the terms of the bounds that depend on the input, but for those of |f_p|."""
        reach = (batch.length + batch.deviation)[:, None]
        along, moved = (table[None, :, -1] for table in (self.per_length, self.per_deviation))
        for k in range(self.degree - 1, 0, -1):
            along = along * reach + self.per_length[:, k - 1]
            moved = moved * reach + self.per_deviation[:, k - 1]
        error: RealArray = along * reach + moved * batch.deviation[:, None]
        return error

    def largest_error(self, length: float, deviation: float) -> float:
        """Return a bound on these terms, a norm below 1 counting as 1."""
        reach = max(1.0, length + deviation)
        powers = reach ** np.arange(1, self.degree + 1)
        along, moved = (float((t @ powers).max()) for t in (self.per_length, self.per_deviation))
        return along + moved * max(1.0, deviation / reach)
