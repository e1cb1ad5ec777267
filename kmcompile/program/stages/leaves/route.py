"""The route of a query through a tree of choices to a leaf."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.model.tree_walk import Walk, walk
from kmcompile.numeric.arrays import Bound, Float32Array, Float64Array, RealArray
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.table import Below
from kmcompile.program.laid import Laid, Layout
from kmcompile.program.shared import Shared

WEIGHTS = Layout(
    "Weights w of the choices but each node's first, less those of that: [row][feature]",
    ("N_ROUTE_ROWS", "N_PREPARED"),
    name="route_weights",
)
OFFSETS = Layout(
    "Offsets t of these choices, likewise: [row]", ("N_ROUTE_ROWS",), name="route_offsets"
)
NodeEnds = Annotated[
    NDArray[np.uint16],
    Layout(
        "Number of the choice after the last one of a node: [node]",
        ("N_NODES",),
        below=Below("self.n_choices", rises=True),
    ),
]
Targets = Annotated[
    NDArray[np.uint16],
    Layout(
        "Where a choice leads: a later node, or N_NODES + a leaf: [choice]",
        below=Below(("N_NODES", "N_LEAVES")),
    ),
]


class RouteTree(Laid, ABC):
    """A tree of choices; at each node the one with the largest score is taken, the first of equals.

    Only differences of scores matter. So the trained w and t of a node's first choice are
    subtracted from those of its others: the score of the first choice is 0, and it has no row in
    the tables.

    Parameters
    ----------
    weights : ndarray of shape (n_rows, n_features)
        Row c - node - 1 is that of choice c.
    offsets : ndarray of shape (n_rows,)
    node_ends : ndarray of shape (n_nodes,), uint16
        The choice after the last one of each node.
    targets : ndarray of shape (n_choices,), uint16
        Where a choice leads: a node with a larger number, or n_nodes + leaf.
    """

    weights: NDArray[Any]
    offsets: NDArray[Any]
    node_ends: NDArray[np.uint16]
    targets: NDArray[np.uint16]

    @property
    @abstractmethod
    def score_operations(self) -> int:
        """Multiply-adds of one score, its comparisons included."""

    @abstractmethod
    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return a bound on scores and margins, as `DescribedSum.largest_intermediate`."""

    @abstractmethod
    def margins(self, batch: Batch) -> RealArray | NDArray[np.int64]:
        """Return the margin of each query: scores that differ by more are in the right order."""

    @abstractmethod
    def scores(self, x: NDArray[Any], rows: slice) -> NDArray[Any]:
        """Return the scores of some rows of the tables, shape (n_queries, n_rows).

        Parameters
        ----------
        x : ndarray of shape (n_queries, n_features)
            What `inputs` returned.
        rows : slice
        """

    @abstractmethod
    def inputs(self, batch: Batch) -> NDArray[Any]:
        """Return what the scores are functions of, shape (n_queries, n_features)."""

    @property
    def n_nodes(self) -> int:
        """Nodes of the tree."""
        return len(self.node_ends)

    @property
    def n_choices(self) -> int:
        """Choices of all nodes."""
        return len(self.targets)

    def check_tables(self, known: Mapping[str, float]) -> None:
        """Check the ends of nodes, and that each choice leads to a later node or a leaf."""
        super().check_tables(known)
        if (self._node_sizes < 1).any():
            raise ValueError("a node has no choice")
        if (self.targets <= np.repeat(np.arange(self.n_nodes), self._node_sizes)).any():
            raise ValueError("a choice leads back to an earlier node")

    @property
    def most_choices(self) -> int:
        """The most choices of a node."""
        return int(self._node_sizes.max())

    @property
    def depth(self) -> int:
        """The most nodes on the way to a leaf."""
        return self._longest(np.ones(self.n_nodes, dtype=np.int64))

    @property
    def most_scores(self) -> int:
        """The most scores on the way to a leaf."""
        return self._longest(self._node_sizes - 1)

    @property
    def _node_sizes(self) -> NDArray[np.int64]:
        ends = self.node_ends.astype(np.int64)
        counts: NDArray[np.int64] = ends - np.concatenate([[0], ends[:-1]])
        return counts

    def _longest(self, costs: NDArray[np.int64]) -> int:
        """Return the largest sum of the nodes' costs on a way to a leaf."""
        longest = costs.copy()
        parent = np.repeat(np.arange(self.n_nodes), self._node_sizes)
        for choice in range(len(self.targets) - 1, -1, -1):
            target, node = int(self.targets[choice]), parent[choice]
            if target < self.n_nodes:
                longest[node] = max(longest[node], costs[node] + longest[target])
        return int(longest[0])

    def walk(self, batch: Batch, start: NDArray[np.int64] | None = None) -> Walk:
        """Return where the queries end, from node 0 or from their own targets.

        Of a target in `start`, and of a result's rival, -1 - leaf stands for a leaf.
        """
        inputs = self.inputs(batch)
        targets = self.targets.astype(np.int64)
        targets = np.where(targets < self.n_nodes, targets, self.n_nodes - 1 - targets)
        ends = self.node_ends.astype(np.int64)
        node_of = np.repeat(np.arange(self.n_nodes), self._node_sizes)

        def score(choices: slice, rows: NDArray[np.intp]) -> NDArray[Any]:
            node = int(node_of[choices.start])
            others = self.scores(inputs[rows], slice(choices.start - node, choices.stop - node - 1))
            return np.concatenate([np.zeros_like(others, shape=(len(rows), 1)), others], axis=1)

        begin = np.zeros(len(batch), dtype=np.int64) if start is None else start
        return walk(ends, targets, score, self.margins(batch), begin)

    def shared(self) -> Shared:
        """Return the numbers of features, rows, nodes and choices."""
        return (("N_ROUTE_ROWS", len(self.targets) - self.n_nodes), *Laid.shared(self))


@dataclass(frozen=True, slots=True, eq=False)
class Route(RouteTree):
    """Scores <w, x> - t in float32. A sum of products is plain, in the order of the features.

    With w^, t^, x^ as stored, e >= |w - w^|, delta >= |x - x^| and X >= |x^|, a score is off by at
    most ((gamma_n + u) |w^| + e) X + |w| delta + |t - t^| + u |t^| (Higham, eq. 3.5), and twice
    the largest such bound is the margin

        per_length X + per_deviation delta + minimum:

    where two computed scores differ by more, the larger one is the larger one in real arithmetic.

    Parameters
    ----------
    weights, offsets : ndarray, float32
    node_ends, targets : ndarray, uint16
    per_length, per_deviation, minimum : float32
    """

    weights: Annotated[Float32Array, WEIGHTS]
    offsets: Annotated[Float32Array, OFFSETS]
    node_ends: NodeEnds
    targets: Targets
    per_length: Bound
    per_deviation: Bound
    minimum: Bound

    @property
    def score_operations(self) -> int:
        """Multiply-adds of one score, its comparisons included."""
        return int(self.weights.shape[1]) + 4

    def margins(self, batch: Batch) -> RealArray:
        """Return the margin of each query, shape (n_queries,)."""
        of_length = self.per_length * batch.length
        margin: RealArray = of_length + self.per_deviation * batch.deviation + self.minimum
        return margin

    def inputs(self, batch: Batch) -> NDArray[Any]:
        """Return the prepared queries."""
        return batch.x

    def scores(self, x: NDArray[Any], rows: slice) -> NDArray[Any]:
        """Return <w, x> - t of some rows."""
        weights = self.weights[rows]
        total = np.zeros((len(x), len(weights)), dtype=np.float32)
        for of_feature, w in zip(x.T, weights.T, strict=True):
            total += of_feature[:, None] * w
        total -= self.offsets[rows]
        return total

    def largest_intermediate(
        self, magnitude: Float64Array | None, length: float, deviation: float
    ) -> float:
        """Return a bound on scores and margins, as `DescribedSum.largest_intermediate`."""
        weights = np.abs(self.weights.astype(np.float64))
        norm = float(np.sqrt((weights**2).sum(axis=1)).max(initial=0.0))
        inner = norm * length if magnitude is None else float((weights @ magnitude).max(initial=0))
        inner += float(np.abs(self.offsets).max(initial=0.0))
        margin = float(self.per_length) * length + float(self.per_deviation) * deviation
        return max(inner, margin + float(self.minimum))
