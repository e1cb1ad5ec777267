"""What a leaf of a routed sum may have besides single kernels: weights, and products of kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import BoundArray, Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.layout import Constant


@dataclass(frozen=True, slots=True, eq=False)
class LinearPart(Laid):
    """Adds <w_p, x> to the decisions of a leaf, after its intercepts.

    With w^, x^ as stored, e >= |w - w^|, delta >= |x - x^| and X >= |x^|, the product is off by at
    most (gamma_n |w^| + e) X + (|w^| + e) delta (Higham, eq. 3.5). The addition before rounds by
    at most u (|f| + |w^| X), of which `result_error` has the first part. So

        per_length_p X + per_deviation_p delta

    is the linear part's share of a bound, for the leaf with the longest weights.
    """

    weights: Annotated[
        Float32Array,
        Layout(
            "Weights w_p of the linear part of a leaf: [leaf][decision][feature]",
            ("N_LEAVES", "N_DECISIONS", "N_PREPARED"),
            name="leaf_weights",
        ),
    ]
    per_length: Annotated[
        BoundArray,
        Layout(
            "Error of the linear part, in units of |x|: [decision]",
            ("N_DECISIONS",),
            name="linear_per_length",
        ),
    ]
    per_deviation: Annotated[
        BoundArray,
        Layout(
            "Error of the linear part, in units of |x - prepared x|: [decision]",
            ("N_DECISIONS",),
            name="linear_per_deviation",
        ),
    ]

    @property
    def operations(self) -> int:
        """Multiply-adds of a leaf: its products, and 3 for each decision's bound."""
        return int(self.weights.shape[1]) * (int(self.weights.shape[2]) + 3)

    def values(self, batch: Batch, leaf: int) -> Float32Array:
        """Return <w_p, x> of a leaf, shape (n_queries, n_decisions)."""
        total = np.zeros((len(batch), self.weights.shape[1]), dtype=np.float32)
        for x, w in zip(batch.x.T, self.weights[leaf].T, strict=True):
            total += x[:, None] * w
        return total

    def bound(self, batch: Batch) -> Float32Array:
        """Return the share of the bounds, shape (n_queries, n_decisions)."""
        of_length = self.per_length * batch.length[:, None]
        share: Float32Array = of_length + self.per_deviation * batch.deviation[:, None]
        return share

    def largest_value(self, magnitude: Float64Array | None, length: float) -> float:
        """Return a bound on |<w_p, x>|, as `DescribedSum.largest_intermediate`."""
        weights = np.abs(self.weights.astype(np.float64))
        if magnitude is None:
            return float(np.sqrt((weights**2).sum(axis=2)).max()) * length
        return float((weights @ magnitude).max())


@dataclass(frozen=True, slots=True, eq=False)
class KernelProducts(Laid):
    """Adds a quadratic form of a leaf's kernels: the terms c_ij K_i K_j, j <= i.

    The kernels are at most 1. Where K_i is off by e_i, a term is off by at most
    |c_ij| (e_i + e_j). So the errors of kernels have the weights

        |beta_i| + sum over j <= i of |c_ij| + sum over j >= i of |c_ji|

    instead of |beta_i|.

    Parameters
    ----------
    coefficients : ndarray of shape (n_pairs, n_decisions), float32
        c of the pairs (0, 0), (1, 0), (1, 1), (2, 0), ... of each leaf's vectors.
    """

    starts: Annotated[
        NDArray[np.uint32],
        Layout("The first pair of a leaf: [leaf]", ("N_LEAVES",), name="pair_starts"),
    ]
    coefficients: Annotated[
        Float32Array,
        Layout(
            "Coefficients c of K_i K_j, j <= i, leaf by leaf: [pair][decision]",
            ("N_PAIRS", "N_DECISIONS"),
            name="pair_coefficients",
        ),
    ]
    error_weights: Annotated[
        BoundArray,
        Layout(
            "Weight of a kernel's error, products included: [slot][decision]",
            ("N_SLOTS", "N_DECISIONS"),
        ),
    ]

    def factor(
        self, pair: int, coefficient: Float32Array, values: list[Float32Array]
    ) -> Float32Array:
        """Return beta_i + sum over j <= i of c_ij K_j, shape (n_queries, n_decisions).

        Parameters
        ----------
        pair : int
            The pair (i, 0).
        coefficient : ndarray of shape (n_decisions,), float32
        values : list of ndarray of shape (n_queries, 1), float32
            K_0 to K_i.
        """
        total = np.zeros((len(values[0]), len(coefficient)), dtype=np.float32) + coefficient
        for number, value in enumerate(values):
            total += self.coefficients[pair + number] * value
        return total

    def operations(self, leaf_sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the multiply-adds of leaves of so many vectors: one a pair and decision."""
        pairs = leaf_sizes * (leaf_sizes + 1) // 2
        counts: NDArray[np.int64] = pairs * self.coefficients.shape[1]
        return counts

    def constants(self) -> tuple[Constant, ...]:
        """Return the number of pairs."""
        n = len(self.coefficients)
        return (Constant("N_PAIRS", n, "pairs of kernels of all leaves together"),)
