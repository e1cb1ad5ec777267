"""Routing: which leaf of a routed machine answers a query."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.requirements import require
from kmcompile.model.tree_walk import Walk, walk
from kmcompile.numeric.arrays import Float64Array, frozen
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64

_BLOCK_VALUES = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Routing:
    """A tree whose leaves share out the support vectors of a routed machine.

    A query x walks from node 0 to a leaf. At a node it takes the choice with the largest
    w x - t, in real arithmetic. The nearest of several centres c has w = c and t = |c|^2 / 2. The
    decisions of a query are

        f_p(x) = sum over the leaf's vectors i of beta_pi K(s_i, x)
               + sum over the leaf's pairs (i <= j) of c_pij K(s_i, x) K(s_j, x)
               + w_leaf,p x + b_leaf,p + b_p.

    Where several choices are equally good, either leaf's answer is right.

    Parameters
    ----------
    weights : ndarray of shape (n_choices, n_kernel_features), float64
        w, for preprocessed inputs.
    offsets : ndarray of shape (n_choices,), float64
        t.
    node_ends : ndarray of shape (n_nodes,), int64
        The choice after the last one of each node.
    targets : ndarray of shape (n_choices,), int64
        Where a choice leads: a node with a larger number, or -1 - leaf.
    leaf_ends : ndarray of shape (n_leaves,), int64
        The support vector after the last one of each leaf; a leaf may have none.
    intercepts : ndarray of shape (n_leaves, n_decisions), float64
    relative_gamma : ndarray of shape (n_sv,), float64
        Positive: K(s_i, x) has the machine's gamma times this; only an rbf kernel has others
        than 1.
    pair_coef : ndarray of shape (n_decisions, n_pairs), float64
        c of the pairs (0, 0), (0, 1), ..., (1, 1), ... of a leaf's vectors, leaf by leaf; only an
        rbf kernel has any. n_pairs is 0 if no leaf has any, otherwise each leaf has all.
    leaf_weights : ndarray of shape (n_leaves, n_decisions, n_kernel_features), float64
        w_leaf,p; n_leaves is 0 here if no leaf has any.
    """

    weights: Float64Array
    offsets: Float64Array
    node_ends: NDArray[np.int64]
    targets: NDArray[np.int64]
    leaf_ends: NDArray[np.int64]
    intercepts: Float64Array
    relative_gamma: Float64Array
    pair_coef: Float64Array
    leaf_weights: Float64Array

    def __post_init__(self) -> None:
        whole = ("node_ends", "targets", "leaf_ends")
        for field in fields(self):
            kind = np.int64 if field.name in whole else np.float64
            object.__setattr__(self, field.name, frozen(getattr(self, field.name), kind))

    @property
    def has_widths(self) -> bool:
        """Whether kernels have different gammas."""
        return bool((self.relative_gamma != 1.0).any())

    @property
    def has_pairs(self) -> bool:
        """Whether decisions have products of kernels."""
        return int(self.pair_coef.shape[1]) > 0

    @property
    def has_weights(self) -> bool:
        """Whether leaves have linear parts."""
        return len(self.leaf_weights) > 0

    @property
    def leaf_sizes(self) -> NDArray[np.int64]:
        """Support vectors of each leaf, shape (n_leaves,)."""
        sizes: NDArray[np.int64] = np.diff(self.leaf_ends, prepend=0)
        return sizes

    @property
    def pair_starts(self) -> NDArray[np.int64]:
        """The first pair of each leaf, shape (n_leaves,), if leaves have pairs."""
        counts = self.leaf_sizes * (self.leaf_sizes + 1) // 2
        starts: NDArray[np.int64] = counts.cumsum() - counts
        return starts

    def pairs(self, leaf: int) -> Float64Array:
        """Return c of a leaf as symmetric matrices, shape (n_decisions, n_own, n_own).

        Off the diagonal each of two equal entries is c / 2, so that f_p has k^T C_p k.
        """
        n = int(self.leaf_sizes[leaf])
        first = int(self.pair_starts[leaf])
        i, j = np.triu_indices(n)
        form = np.zeros((len(self.pair_coef), n, n))
        half = self.pair_coef[:, first : first + len(i)] / 2
        form[:, i, j] += half
        form[:, j, i] += half
        return form

    @property
    def n_leaves(self) -> int:
        """Leaves of the tree."""
        return len(self.leaf_ends)

    @property
    def n_nodes(self) -> int:
        """Nodes at which a choice is taken."""
        return len(self.node_ends)

    @property
    def n_choices(self) -> int:
        """Choices of all nodes."""
        return len(self.offsets)

    def members(self, leaf: int) -> slice:
        """Return the support vectors of a leaf."""
        return slice(int(self.leaf_ends[leaf - 1]) if leaf else 0, int(self.leaf_ends[leaf]))

    def arrays(self) -> tuple[tuple[str, np.ndarray], ...]:
        """Return all arrays with the names of their fields, in a fixed order."""
        return tuple((field.name, getattr(self, field.name)) for field in fields(self))

    def moved(self, offset: Float64Array, factor: float) -> Routing:
        """Return the routing of (x - offset) * factor, the leaves' linear parts included.

        Parameters
        ----------
        offset : ndarray of shape (n_kernel_features,), float64
        factor : float
        """
        intercepts = self.intercepts
        if self.has_weights:
            intercepts = intercepts + self.leaf_weights @ offset
        return replace(
            self,
            weights=self.weights / factor,
            offsets=self.offsets - self.weights @ offset,
            intercepts=intercepts,
            leaf_weights=self.leaf_weights / factor,
        )

    def walk(self, prepared: Float64Array, start: NDArray[np.int64] | None = None) -> Walk:
        """Return where preprocessed queries end, with what the rounding of float64 leaves open.

        Parameters
        ----------
        prepared : ndarray of shape (n_queries, n_kernel_features), float64
        start : ndarray of shape (n_queries,), int64, optional
            Where each query begins, by default at node 0.
        """
        n = len(prepared)
        begin = np.zeros(n, dtype=np.int64) if start is None else start
        # A score of d products and a subtraction: Higham, eq. 3.5. Twice that for two scores. The
        # steps before are counted as accurate to 1e-12.
        length = np.sqrt((prepared**2).sum(axis=1))
        longest = float(np.sqrt((self.weights**2).sum(axis=1)).max())
        size = longest * length + float(np.abs(self.offsets).max())
        margin = 2 * max(1e-12, (prepared.shape[1] + 4) * UNIT_ROUNDOFF_64 * (1 + 1e-6)) * size

        def score(choices: slice, rows: NDArray[np.intp]) -> Float64Array:
            weights, offsets = self.weights[choices], self.offsets[choices]
            values = np.empty((len(rows), len(offsets)))
            step = max(1, _BLOCK_VALUES // len(offsets))
            for first in range(0, len(rows), step):
                part = slice(first, first + step)
                values[part] = prepared[rows[part]] @ weights.T - offsets
            return values

        return walk(self.node_ends, self.targets, score, margin, begin)

    @property
    def _n_pairs(self) -> int:
        """Pairs that the leaves must have: none, or all."""
        if not self.pair_coef.size:
            return 0
        return int((self.leaf_sizes * (self.leaf_sizes + 1) // 2).sum())

    def validate(self, n_vectors: int, n_kernel_features: int, n_decisions: int) -> None:
        """Raise InputError unless the tree is one, and fits the machine."""
        for name, array in self.arrays():
            finite = bool(np.isfinite(array).all())
            require(finite, f"routing.{name} has a number that is not finite")
        shapes = {
            "weights": (self.n_choices, n_kernel_features),
            "targets": (self.n_choices,),
            "intercepts": (self.n_leaves, n_decisions),
            "relative_gamma": (n_vectors,),
            "leaf_weights": (self.n_leaves, n_decisions, n_kernel_features),
            "pair_coef": (n_decisions, self._n_pairs),
        }
        if not self.has_weights:
            shapes["leaf_weights"] = (0, n_decisions, n_kernel_features)
        for name, shape in shapes.items():
            found = getattr(self, name).shape
            require(found == shape, f"routing.{name} has shape {found}, expected {shape}")
        positive = bool((self.relative_gamma > 0).all())
        require(positive, "routing.relative_gamma has a number that is not above 0")
        require(self.n_nodes >= 1, "routing has no node")
        sizes = np.diff(self.node_ends, prepend=0)
        require(
            bool((sizes >= 1).all()) and int(self.node_ends[-1]) == self.n_choices,
            "routing.node_ends do not share out the choices",
        )
        require(
            self.n_leaves >= 1
            and bool((np.diff(self.leaf_ends, prepend=0) >= 0).all())
            and int(self.leaf_ends[-1]) == n_vectors,
            f"routing.leaf_ends do not share out {n_vectors} support vectors",
        )
        own = np.repeat(np.arange(self.n_nodes), sizes)
        right = np.where(
            self.targets >= 0,
            (self.targets > own) & (self.targets < self.n_nodes),
            -1 - self.targets < self.n_leaves,
        )
        require(bool(right.all()), "routing.targets lead to no later node and to no leaf")
