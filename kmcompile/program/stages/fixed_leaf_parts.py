"""What a leaf in integers may have besides kernels: a linear part."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import frozen
from kmcompile.numeric.table import Table
from kmcompile.program.shared import Shared, sizes
from kmcompile.program.stages.fixed_kernel import Whole


@dataclass(frozen=True, slots=True, eq=False)
class FixedLinear:
    """Adds <w_p, x> of a leaf to its sums of products: 2^shift sum_j W_j X_j, X the codes.

    The integers W are w in units of 2^shift products a code. The sum has 64 bits. Where it is below
    0, its size is added to the sum of what is negative.

    Parameters
    ----------
    weights : ndarray of shape (n_leaves, n_decisions, n_features), int16 or int32
    shift : int
    weight : int
        Multiply-adds of codes that take as many instructions as one of this sum.
    """

    weights: NDArray[np.int32]
    shift: int
    weight: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", frozen(self.weights, narrowest(self.weights)))

    @property
    def wide(self) -> bool:
        """Whether weights have 32 bits."""
        return self.weights.dtype.itemsize > 2

    @property
    def operations(self) -> int:
        """Multiply-adds of a leaf."""
        return int(self.weights.shape[1]) * (self.weight * int(self.weights.shape[2]) + 4)

    def parts(self, codes: NDArray[np.int64], leaf: int) -> tuple[Whole, Whole]:
        """Return what is positive and what is negative, each (n_queries, n_decisions)."""
        total = codes @ self.weights[leaf].astype(np.int64).T
        shift = np.uint64(self.shift)
        return (
            np.maximum(total, 0).astype(np.uint64) << shift,
            np.maximum(-total, 0).astype(np.uint64) << shift,
        )

    def shared(self) -> Shared:
        """Return the numbers of leaves, decisions and features."""
        return sizes(self.weights, "N_LEAVES", "N_DECISIONS", "N_PREPARED")

    def tables(self) -> tuple[Table, ...]:
        """Return the weights."""
        text = "Weights w_p of the linear part of a leaf in steps: [leaf][decision][feature]"
        return (Table("leaf_weights", self.weights, text),)


def narrowest(values: NDArray[np.int32]) -> type[np.int16] | type[np.int32]:
    """Return the type of 16 bits if it holds all values."""
    return np.int16 if np.abs(values.astype(np.int64)).max(initial=0) < 1 << 15 else np.int32
