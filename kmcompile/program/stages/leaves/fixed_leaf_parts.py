"""What a leaf in integers may have besides single kernels: weights, and products of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Positive
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant
from kmcompile.program.stages.sums.fixed_kernel import Whole
from kmcompile.program.stages.sums.fixed_sum import exact_product

_ONE = np.uint64(exp2_fixed.RESULT_BITS)
_WORD = np.uint64(32)
_LOW = np.uint64(0xFFFFFFFF)


@dataclass(frozen=True, slots=True, eq=False)
class FixedLinear(Laid):
    """Adds <w_p, x> of a leaf to its sums of products: 2^shift sum_j W_j X_j, X the codes.

    The integers W are w in units of 2^shift products a code. The sum has 64 bits. Where it is below
    0, its size is added to the sum of what is negative.

    Parameters
    ----------
    weight : int
        Multiply-adds of codes that take as many instructions as one of this sum.
    """

    weights: Annotated[
        NDArray[np.int32],
        Layout(
            "Weights w_p of the linear part of a leaf in steps: [leaf][decision][feature]",
            ("N_LEAVES", "N_DECISIONS", "N_PREPARED"),
            name="leaf_weights",
            narrow=np.int16,
        ),
    ]
    shift: int
    weight: Positive

    @property
    def wide(self) -> bool:
        """Whether weights have 32 bits."""
        return self.weights.dtype.itemsize > 2

    @property
    def operations(self) -> int:
        """Multiply-adds of a leaf."""
        return int(self.weights.shape[1]) * (self.weight * int(self.weights.shape[2]) + 4)

    def most(self, leaf: int, largest: int) -> NDArray[np.object_]:
        """Return the largest size of each decision's part for codes of magnitudes up to largest."""
        sizes = np.abs(self.weights[leaf].astype(np.int64)).sum(axis=1)
        most: NDArray[np.object_] = (sizes.astype(object) * largest) << self.shift
        return most

    def parts(self, codes: NDArray[np.int64], leaf: int) -> tuple[Whole, Whole]:
        """Return what is positive and what is negative, each (n_queries, n_decisions)."""
        total = codes @ self.weights[leaf].astype(np.int64).T
        shift = np.uint64(self.shift)
        return (
            np.maximum(total, 0).astype(np.uint64) << shift,
            np.maximum(-total, 0).astype(np.uint64) << shift,
        )


@dataclass(frozen=True, slots=True, eq=False)
class FixedPairs(Laid):
    """Adds c_ij K_i K_j, j <= i, to the sums of products of a leaf.

    What K_i is multiplied by is summed first: F = beta_i + sum over j <= i of c_ij k_j, what is
    positive and what is negative apart. Then F k_i is cut to whole products.

    Parameters
    ----------
    coefficients : ndarray of shape (n_pairs, n_decisions), int16 or int32
        c of the pairs (0, 0), (1, 0), (1, 1), (2, 0), ... of each leaf's vectors in steps.
    """

    starts: Annotated[
        NDArray[np.uint32],
        Layout("The first pair of a leaf: [leaf]", ("N_LEAVES",), name="pair_starts"),
    ]
    coefficients: Annotated[
        NDArray[np.int32],
        Layout(
            "Coefficients c of K_i K_j, j <= i, in steps, leaf by leaf: [pair][decision]",
            ("N_PAIRS", "N_DECISIONS"),
            name="pair_coefficients",
            narrow=np.int16,
        ),
    ]

    def sizes(self, leaf: int, n_vectors: int) -> NDArray[np.int64]:
        """Return the sum of magnitudes of a leaf's coefficients, shape (n_decisions,)."""
        first = int(self.starts[leaf])
        own = self.coefficients[first : first + n_vectors * (n_vectors + 1) // 2]
        sizes: NDArray[np.int64] = np.abs(own.astype(np.int64)).sum(axis=0)
        return sizes

    def products(self, kernels: Whole, coefficients: NDArray[np.int64], leaf: int) -> Whole:
        """Return the sums over a leaf's vectors of F k, shape (n_queries, n_decisions, 2).

        The last axis has what is positive and what is negative.

        Parameters
        ----------
        kernels : ndarray of shape (n_queries, n_own), uint64
        coefficients : ndarray of shape (n_own, n_decisions), int64
        leaf : int
        """
        total = np.zeros((len(kernels), coefficients.shape[1], 2), dtype=np.uint64)
        pair = int(self.starts[leaf])
        for i, beta in enumerate(coefficients):
            own = self.coefficients[pair : pair + i + 1].astype(np.int64)
            for part, sign in enumerate((1, -1)):
                row = exact_product(
                    kernels[:, : i + 1], np.maximum(sign * own, 0).astype(np.uint32)
                )
                row += np.maximum(sign * beta, 0).astype(np.uint64) << _ONE
                total[:, :, part] += scaled(row, kernels[:, i : i + 1])
            pair += i + 1
        return total

    def operations(self, leaf_sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the multiply-adds of leaves of so many vectors: one a pair, four a vector."""
        pairs = leaf_sizes * (leaf_sizes + 1) // 2
        counts: NDArray[np.int64] = (pairs + 4 * leaf_sizes) * self.coefficients.shape[1]
        return counts

    def constants(self) -> tuple[Constant, ...]:
        """Return the number of pairs."""
        n = len(self.coefficients)
        return (Constant("N_PAIRS", n, "pairs of kernels of all leaves together"),)


def scaled(sums: Whole, kernels: Whole) -> Whole:
    """Return sums below 2^63 times kernels of at most 2^31, in units of 2^31 and cut to whole ones.

    Examples
    --------
    >>> scaled(np.array([(1 << 62) + 3], dtype=np.uint64), np.array([1 << 30], dtype=np.uint64))
    array([2305843009213693953], dtype=uint64)
    """
    upper = ((sums >> _WORD) * kernels) << np.uint64(1)
    return upper + (((sums & _LOW) * kernels) >> _ONE)
