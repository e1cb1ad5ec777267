"""The total of a support vector and a query: the sum over features that a kernel depends on."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.float32 import Float32Kernel
from kmcompile.numeric.arrays import RealArray, RealBound
from kmcompile.program.layout import Constant
from kmcompile.program.stages.input.range_gate import sum_of_squares
from kmcompile.program.stages.sums.sum import Sum
from kmcompile.program.stages.vector_blocks import VectorBlocks
from kmcompile.text.figures import factor_text


def squared_distances(squares: RealArray, x_square: RealArray, inner: RealArray) -> RealArray:
    """Return max(0, (|s|^2 + |x|^2) - 2 <s, x>), the expanded squared distances."""
    distance: RealArray = np.maximum(squares + x_square - inner * np.float32(2.0), np.float32(0.0))
    return distance


class VectorTotals(VectorBlocks, Sum):
    """A sum with a table of support vectors, in blocks of `lanes` interleaved vectors.

    A total is the sum over the features of which the kernel is a function: <s, x>, |s - x|^2 or
    another one, added in the order of the features. With `skip_zeros` the sum runs over the list of
    nonzero features, which the stage `nonzeros` has made. For <s, x> this changes no bit, because
    the skipped terms add +-0 to a sum that began with +0. A squared distance becomes
    max(0, (|s|^2 + |x|^2) - 2 <s, x>).

    Parameters
    ----------
    kernel : Float32Kernel
    vectors : ndarray of shape (n_blocks, n_features, lanes), float32
    skip_zeros : bool
    squares : ndarray of shape (n_blocks, lanes), float32
        |s|^2 of the vectors; of shape (0, 0) where no distance is expanded.
    """

    kernel: Float32Kernel
    vectors: RealArray
    skip_zeros: bool
    squares: RealArray
    coefficients: RealArray
    final_factor: RealBound

    takes_terms: ClassVar[bool] = True
    bound_meaning: ClassVar[str] = (
        "e_i being the bound of the error of the kernel K(s_i, x), which grows with d"
    )

    @property
    def bound_formula(self) -> str:
        """The terms of a bound that do not depend on |f_p|."""
        return f"{factor_text(self.final_factor)} sum_i |beta_pi| e_i + minimum_bound_p"

    @property
    def n_features(self) -> int:
        """Features of a vector."""
        return int(self.vectors.shape[1])

    @property
    def expands(self) -> bool:
        """Whether distances come from inner products."""
        return self.squares.size > 0

    def needs(self) -> frozenset[str]:
        """Return "nonzeros" if the sums run over the list of nonzero features."""
        return frozenset({"nonzeros"} if self.skip_zeros else ())

    @property
    def product_operations(self) -> int:
        """Multiply-adds of all totals for an input without zeros."""
        return self.n_slots * self.total_operations

    @property
    def total_operations(self) -> int:
        """Multiply-adds of one vector's total for an input without zeros."""
        return self.n_features * self.kernel.term_operations + (2 if self.expands else 0)

    def columns(self) -> RealArray:
        """Return the vectors as (n_features, n_slots): a slot is a vector's place in the blocks."""
        return np.ascontiguousarray(self.vectors.transpose(1, 0, 2).reshape(self.n_features, -1))

    def totals(
        self, x: RealArray, columns: RealArray, slots: NDArray[np.intp] | None = None
    ) -> RealArray:
        """Return the totals of vectors and queries: <s, x>, |s - x|^2 or the kernel's other sum.

        Parameters
        ----------
        x : ndarray of shape (n_queries, n_features), float32
        columns : ndarray of shape (n_features, n_slots), float32
            `columns()`.
        slots : ndarray of shape (n_queries, n), intp, optional
            The requested slots; by default all.

        Returns
        -------
        ndarray of shape (n_queries, n_slots) or that of `slots`, float32
        """
        everything: NDArray[np.intp] | slice = slice(None) if slots is None else slots
        shape = (len(x), columns.shape[1]) if slots is None else slots.shape
        total = np.zeros(shape, dtype=columns.dtype)
        for feature, s in enumerate(columns):
            if self.expands:
                total += x[:, feature, None] * s[everything]
            else:
                self.kernel.accumulate(total, x[:, feature, None], s[everything])
        if not self.expands:
            return total
        squares = self.squares.reshape(-1)[everything]
        return squared_distances(squares, sum_of_squares(x)[:, None], total)

    def skipped_features(self, x: RealArray) -> NDArray[np.int64]:
        """Return the number of features of each query that the sums skip."""
        if not self.skip_zeros:
            return np.zeros(len(x), dtype=np.int64)
        skipped: NDArray[np.int64] = self.n_features - np.count_nonzero(x, axis=1).astype(np.int64)
        return skipped

    def block_constants(self) -> tuple[Constant, ...]:
        """Return the private #defines of the sizes of blocks."""
        return (
            Constant("LANES", self.lanes, "support vectors of a block, side by side"),
            Constant("N_BLOCKS", self.n_blocks, "the last ones of a group filled up"),
            Constant("BLOCK_WORDS", self.n_features * self.lanes, "N_PREPARED * LANES"),
        )

    @property
    def dtype_of_reals(self) -> Any:
        """The type of the arrays of reals: that of the kernel."""
        return self.kernel.precision.dtype
