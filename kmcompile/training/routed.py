"""The fitted attributes that all estimators of routed machines share, and their decisions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array

_BLOCK_VALUES = 1 << 22


class RoutedAttributes:
    """Fitted attributes of a routed machine, as plain arrays.

    A query x walks through the nodes of a tree, beginning at node 0. At a node it takes the choice
    with the largest w x - t, the first of equal ones; the choice leads to another node or to a
    leaf. The leaf's decision values are the query's:

        f_p(x) = sum over the leaf's vectors i of dual_coef_pi K_i(s_i, x)
               + sum over the leaf's pairs (i <= j) of pair_coef K_i(s_i, x) K_j(s_j, x)
               + leaf_weights_p x + intercept_p.

    The nearest of several centres c is the choice with w = c and t = |c|^2 / 2.

    Attributes
    ----------
    n_features_in_ : int
    kernel : str
        "rbf", "poly" or "linear", with `gamma_` (float), `degree`, `coef0`.
    route_weights_ : ndarray of shape (n_choices, n_features), float64
    route_offsets_ : ndarray of shape (n_choices,), float64
    node_ends_ : ndarray of shape (n_nodes,), int64
        The choice after the last one of each node.
    choice_targets_ : ndarray of shape (n_choices,), int64
        A node with a larger number, or -1 - leaf.
    support_vectors_ : ndarray of shape (n_members, n_features), float64
        The vectors of the leaves, leaf by leaf; equal vectors of several leaves stand in each.
    relative_gamma_ : ndarray of shape (n_members,), float64
        K_i has the gamma `gamma_` times this; 1 for all kernels but rbf.
    leaf_ends_ : ndarray of shape (n_leaves,), int64
        The vector after the last one of each leaf.
    dual_coef_ : ndarray of shape (n_decisions, n_members), float64
    pair_coef_ : ndarray of shape (n_decisions, n_pairs), float64
        Coefficients of all pairs i <= j of a leaf's vectors, in the order (0, 0), (0, 1), ...,
        (1, 1), ..., leaf by leaf; n_pairs is 0 if no leaf has pairs. A leaf with pairs of
        coefficient 0 has them, too.
    leaf_weights_ : ndarray of shape (n_leaves, n_decisions, n_features), float64
        Of shape (0, n_decisions, n_features) if no leaf has weights.
    intercept_ : ndarray of shape (n_leaves, n_decisions), float64
    """

    n_features_in_: int
    kernel: str
    gamma_: float
    degree: int
    coef0: float
    route_weights_: Float64Array
    route_offsets_: Float64Array
    node_ends_: NDArray[np.int64]
    choice_targets_: NDArray[np.int64]
    support_vectors_: Float64Array
    relative_gamma_: Float64Array
    leaf_ends_: NDArray[np.int64]
    dual_coef_: Float64Array
    pair_coef_: Float64Array
    leaf_weights_: Float64Array
    intercept_: Float64Array

    def leaf_of(self, X: Float64Array) -> NDArray[np.int64]:
        """Return the leaf of each query, shape (n_queries,)."""
        node = np.zeros(len(X), dtype=np.int64)
        leaf = np.full(len(X), -1)
        for number, end in enumerate(self.node_ends_):
            here = np.flatnonzero(node == number)
            first = self.node_ends_[number - 1] if number else 0
            rows = max(1, _BLOCK_VALUES // (end - first))
            for start in range(0, len(here), rows):
                part = here[start : start + rows]
                score = X[part] @ self.route_weights_[first:end].T - self.route_offsets_[first:end]
                target = self.choice_targets_[first + score.argmax(axis=1)]
                node[part] = target
                leaf[part] = -1 - target
        return leaf

    def leaf_decisions(self, leaf: int, X: Float64Array) -> Float64Array:
        """Return the decision values of a leaf, shape (n_queries, n_decisions)."""
        first = self.leaf_ends_[leaf - 1] if leaf else 0
        members = slice(first, self.leaf_ends_[leaf])
        values = self._kernel_values(X, members)
        decision: Float64Array = values @ self.dual_coef_[:, members].T + self.intercept_[leaf]
        if self.pair_coef_.shape[1]:
            i, j = np.triu_indices(values.shape[1])
            sizes = np.diff(self.leaf_ends_, prepend=0)
            start = int((sizes * (sizes + 1) // 2)[:leaf].sum())
            decision += (values[:, i] * values[:, j]) @ self.pair_coef_[:, start : start + len(i)].T
        if len(self.leaf_weights_):
            decision += X @ self.leaf_weights_[leaf].T
        return decision

    def routed_decisions(self, X: Float64Array) -> Float64Array:
        """Return the decision values of the queries' leaves, shape (n_queries, n_decisions)."""
        decision = np.empty((len(X), self.intercept_.shape[1]))
        for leaf, rows in self.queries_by_leaf(X):
            decision[rows] = self.leaf_decisions(leaf, X[rows])
        return decision

    def queries_by_leaf(self, X: Float64Array) -> Iterator[tuple[int, NDArray[np.int64]]]:
        """Return leaves with the numbers of their queries, in blocks that memory holds."""
        leaf = self.leaf_of(X)
        order = np.argsort(leaf, kind="stable")
        ends = np.searchsorted(leaf[order], np.arange(len(self.leaf_ends_)), side="right")
        sizes = np.diff(self.leaf_ends_, prepend=0)
        for number, rows in enumerate(np.split(order, ends[:-1])):
            block = max(1, _BLOCK_VALUES // max(1, int(sizes[number]) * X.shape[1]))
            for start in range(0, len(rows), block):
                yield number, rows[start : start + block]

    def _kernel_values(self, X: Float64Array, members: slice) -> Float64Array:
        vectors = self.support_vectors_[members]
        values: Any
        if self.kernel == "rbf":
            squared = ((X[:, None, :] - vectors[None, :, :]) ** 2).sum(axis=2)
            values = np.exp(-self.gamma_ * self.relative_gamma_[members] * squared)
        elif self.kernel == "poly":
            values = (self.gamma_ * (X @ vectors.T) + self.coef0) ** self.degree
        else:
            values = X @ vectors.T
        return np.asarray(values, dtype=np.float64)
