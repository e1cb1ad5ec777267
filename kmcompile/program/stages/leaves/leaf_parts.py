"""What a leaf of a routed sum may have besides single kernels: weights, and products of kernels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, Float64Array, frozen
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Table
from kmcompile.program.layout import Constant
from kmcompile.program.shared import Shared, sizes


@dataclass(frozen=True, slots=True, eq=False)
class LinearPart:
    """Adds <w_p, x> to the decisions of a leaf, after its intercepts.

    With w^, x^ as stored, e >= |w - w^|, delta >= |x - x^| and X >= |x^|, the product is off by at
    most (gamma_n |w^| + e) X + (|w^| + e) delta (Higham, eq. 3.5). The addition before rounds by
    at most u (|f| + |w^| X), of which `result_error` has the first part. So

        per_length_p X + per_deviation_p delta

    is the linear part's share of a bound, for the leaf with the longest weights.

    Parameters
    ----------
    weights : ndarray of shape (n_leaves, n_decisions, n_features), float32
    per_length, per_deviation : ndarray of shape (n_decisions,), float32
    """

    weights: Float32Array
    per_length: Float32Array
    per_deviation: Float32Array

    def __post_init__(self) -> None:
        for name in ("weights", "per_length", "per_deviation"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float32))

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

    def shared(self) -> Shared:
        """Return the numbers of leaves, decisions and features."""
        return (
            *sizes(self.weights, "N_LEAVES", "N_DECISIONS", "N_PREPARED"),
            *sizes(self.per_length, "N_DECISIONS"),
            *sizes(self.per_deviation, "N_DECISIONS"),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the weights, and the constants of their bound."""
        return (
            Table(
                "leaf_weights",
                self.weights,
                "Weights w_p of the linear part of a leaf: [leaf][decision][feature]",
            ),
            Table(
                "linear_per_length",
                self.per_length,
                "Error of the linear part, in units of |x|: [decision]",
            ),
            Table(
                "linear_per_deviation",
                self.per_deviation,
                "Error of the linear part, in units of |x - prepared x|: [decision]",
            ),
        )


@dataclass(frozen=True, slots=True, eq=False)
class KernelProducts:
    """Adds a quadratic form of a leaf's kernels: the terms c_ij K_i K_j, j <= i.

    The kernels are at most 1. Where K_i is off by e_i, a term is off by at most
    |c_ij| (e_i + e_j). So the errors of kernels have the weights

        |beta_i| + sum over j <= i of |c_ij| + sum over j >= i of |c_ji|

    instead of |beta_i|.

    Parameters
    ----------
    starts : ndarray of shape (n_leaves,), uint32
        The first pair of each leaf.
    coefficients : ndarray of shape (n_pairs, n_decisions), float32
        c of the pairs (0, 0), (1, 0), (1, 1), (2, 0), ... of each leaf's vectors.
    error_weights : ndarray of shape (n_slots, n_decisions), float32
    """

    starts: NDArray[np.uint32]
    coefficients: Float32Array
    error_weights: Float32Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "starts", frozen(self.starts, np.uint32))
        for name in ("coefficients", "error_weights"):
            object.__setattr__(self, name, frozen(getattr(self, name), np.float32))

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

    def shared(self) -> Shared:
        """Return the numbers of leaves, pairs, slots and decisions."""
        return (
            *sizes(self.starts, "N_LEAVES"),
            *sizes(self.coefficients, "N_PAIRS", "N_DECISIONS"),
            *sizes(self.error_weights, "N_SLOTS", "N_DECISIONS"),
        )

    def tables(self) -> tuple[Table, ...]:
        """Return the pairs' coefficients, their starts, and the weights of errors."""
        return (
            Table("pair_starts", self.starts, "The first pair of a leaf: [leaf]"),
            Table(
                "pair_coefficients",
                self.coefficients,
                "Coefficients c of K_i K_j, j <= i, leaf by leaf: [pair][decision]",
            ),
            Table(
                "error_weights",
                self.error_weights,
                "Weight of a kernel's error, products included: [slot][decision]",
            ),
        )
