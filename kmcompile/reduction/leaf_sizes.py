"""Routed machines of fewer vectors, shared out over the leaves, which are reduced one by one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.leaves import leaf_intercepts, leaf_machines, with_leaves
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.passes.reduction.construction import construct
from kmcompile.passes.reduction.distance import distances, leaf_distances
from kmcompile.passes.reduction.imitation import imitate
from kmcompile.passes.reduction.pursuit import pursue
from kmcompile.passes.reduction.selection import Selection
from kmcompile.passes.reduction.shares import errors_left, shared_out
from kmcompile.reduction.sizes import Answers, Made

_MOST_SELECTED = 256
"""Most vectors of a leaf that take the place of others. Leaves are small, and few are enough."""


_BY_SELECTION = 0.75
"""Share of the vectors that leaves get by the errors of selections; the rest by those of moved
vectors, which are smaller by a factor that is not known before."""

_ROUNDS = 10
"""Rounds in which the rest is shared out."""


class LeafSizes:
    """Machines of any number of vectors, made of a trained routed machine.

    Parameters
    ----------
    machine : KernelMachine
        Routed; the vectors of a leaf have one gamma.
    fit : ndarray of shape (n, n_features), float32
        Samples whose decisions are imitated; may be empty.
    pick : Answers
        Other samples, which choose among the methods; without any, the least distance does.
    tell : callable
        Called with a few words as each step begins.
    most_of_leaf : int, optional
        The most vectors of a leaf.
    """

    def __init__(
        self,
        machine: KernelMachine,
        fit: Float32Array,
        pick: Answers,
        tell: Callable[[str], None],
        most_of_leaf: int | None = None,
    ) -> None:
        self.machine, self.pick, self._tell = machine, pick, tell
        self._leaves = leaf_machines(machine)
        self._intercepts = leaf_intercepts(machine)
        self._trained_sizes = [
            0 if leaf is None else leaf.n_support_vectors for leaf in self._leaves
        ]
        self._fit = _by_leaf(machine, fit)
        self._most = machine.n_support_vectors if most_of_leaf is None else most_of_leaf
        self.notes: tuple[str, ...] = ()
        if most_of_leaf is not None:
            self.notes = (f"a leaf has at most {most_of_leaf:,} vectors for --max-instructions",)
        most = min(self._most, _MOST_SELECTED)
        tell(f"choosing vectors of {len(self._leaves):,} leaves")
        self._chosen = [None if leaf is None else _selected(leaf, most) for leaf in self._leaves]
        self._errors = [
            np.zeros(1) if chosen is None else errors_left(chosen) for chosen in self._chosen
        ]
        self._moved: dict[tuple[int, int], KernelMachine] = {}
        self._distances: dict[tuple[int, int], float] = {}
        self._made: dict[int, Made] = {}

    @property
    def largest(self) -> int:
        """The most vectors that `at` gives the leaves together."""
        return sum(len(errors) - 1 for errors in self._errors)

    def at(self, n: int) -> Made:
        """Return the best machine of n vectors: selected, constructed or imitated.

        With as many as the machine has, or more, only leaves that are too large are reduced.

        Raises
        ------
        InputError
            Fewer than n vectors have any part in the leaves.
        """
        if n not in self._made:
            self._tell(f"sharing out {n:,} vectors")
            self._made[n] = self._best_of(self._sizes(n), f"{n:,} vectors")
        return self._made[n]

    def _sizes(self, n: int) -> NDArray[np.int64]:
        """Return how many vectors each leaf gets of n."""
        if n >= self.machine.n_support_vectors:
            return np.array(
                [
                    size if size <= self._most else len(errors) - 1
                    for size, errors in zip(self._trained_sizes, self._errors, strict=True)
                ]
            )
        if n > self.largest:
            raise InputError(
                f"only {self.largest:,} of the leaves' {self.machine.n_support_vectors:,} vectors "
                f"are no combinations of others\nuse --reduce {self.largest} or fewer"
            )
        sizes = shared_out(self._errors, int(_BY_SELECTION * n))
        for rounds in range(_ROUNDS, 0, -1):
            sizes[self._most_distant(sizes, -(-(n - int(sizes.sum())) // rounds))] += 1
        left = [errors[size:] for size, errors in zip(sizes, self._errors, strict=True)]
        return sizes + shared_out(left, n - int(sizes.sum()))

    def _most_distant(self, sizes: NDArray[np.int64], n: int) -> NDArray[np.intp]:
        """Return the n leaves, or fewer, that are most distant and may have a vector more."""
        open_ = np.flatnonzero(sizes < [len(errors) - 1 for errors in self._errors])
        apart = np.array([self._apart(int(leaf), int(sizes[leaf])) for leaf in open_])
        return open_[np.argsort(-apart, kind="stable")[:n]]

    def _apart(self, leaf: int, n: int) -> float:
        """Return |W - W^| of a leaf of n vectors."""
        if (leaf, n) not in self._distances:
            trained, made = self._leaves[leaf], self._reduced(leaf, n)
            assert trained is not None  # only these can have a vector more
            fewer = made if isinstance(made, KernelMachine) else None
            self._distances[leaf, n] = float(distances(trained, fewer).max())
        return self._distances[leaf, n]

    def distance(self, reduced: KernelMachine) -> float:
        """Return the largest |W_p - W^_p| of a leaf, a share of the largest |W_p| of a leaf.

        A share of each leaf's own would be 1 wherever a nearly constant leaf has no vector left.
        """
        squares = [chosen.squares for chosen in self._chosen if chosen is not None]
        largest = np.sqrt(np.max(squares, axis=0))
        apart = leaf_distances(self.machine, reduced).max(axis=0)
        return float((apart[largest > 0] / largest[largest > 0]).max(initial=0.0))

    def _best_of(self, sizes: NDArray[np.int64], what: str) -> Made:
        """Return the best machine whose leaves have these sizes."""
        moves = self.machine.kernel.has_gradient
        self._tell(f"{'moving' if moves else 'weighing'} {what}")
        constructed = [self._reduced(leaf, int(n)) for leaf, n in enumerate(sizes)]
        name = "construction" if moves else "orthogonal_least_squares"
        made = [Made(with_leaves(self.machine, constructed), name)]
        if not moves or not len(self.pick.X):
            return made[0]
        self._tell(f"fitting {what} to the decisions of samples")
        imitated = [self._imitated(leaf, own) for leaf, own in enumerate(constructed)]
        made.append(Made(with_leaves(self.machine, imitated), "imitation"))
        counts = [self.pick.disagreements(each.machine) for each in made]
        return made[int(np.argmin(counts))]

    def _reduced(self, leaf: int, n: int) -> KernelMachine | Float64Array:
        """Return a leaf of n vectors, or its decisions if it has none."""
        trained, chosen = self._leaves[leaf], self._chosen[leaf]
        if trained is None or chosen is None or n == 0:
            decisions: Float64Array = self._intercepts[leaf]
            return decisions
        if n >= trained.n_support_vectors:
            return trained
        if (leaf, n) not in self._moved:
            self._moved[leaf, n] = _nearest(trained, chosen.reduced(n))
        return self._moved[leaf, n]

    def _imitated(
        self, leaf: int, start: KernelMachine | Float64Array
    ) -> KernelMachine | Float64Array:
        """Return a leaf whose decisions on the leaf's samples are nearer to the trained ones.

        It stays as it is if there are fewer decisions than numbers to be fitted to them.
        """
        trained, samples = self._leaves[leaf], self._fit.get(leaf)
        if trained is None or samples is None or start is trained:
            return start
        if not isinstance(start, KernelMachine):
            return start
        numbers = start.support_vectors.size + start.dual_coef.size + start.n_decisions
        if len(samples) * start.n_decisions < numbers:
            return start
        return imitate(trained, start, samples)


def _selected(leaf: KernelMachine, most: int) -> Selection:
    return pursue(leaf, most, "orthogonal_least_squares")


def _nearest(trained: KernelMachine, start: KernelMachine) -> KernelMachine:
    """Return the nearer of a selection and the machine to whose vectors it is moved."""
    if not trained.kernel.has_gradient:
        return start
    moved = construct(trained, start)
    apart = [distances(trained, each).max() for each in (moved, start)]
    return moved if apart[0] <= apart[1] else start


def _by_leaf(machine: KernelMachine, X: Float32Array) -> dict[int, Float32Array]:
    """Return the samples of each leaf that has any."""
    assert machine.routing is not None
    if not len(X):
        return {}
    leaf = machine.routing.walk(machine.prepare(X.astype(np.float64))).leaf
    return {int(number): X[leaf == number] for number in np.unique(leaf)}
