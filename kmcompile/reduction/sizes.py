"""Machines of fewer vectors, each the best of several methods on samples."""

from __future__ import annotations

import math
from collections.abc import Callable
from copy import copy
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.exits.statistical.loss import losses_of
from kmcompile.exits.statistical.risk import Tally
from kmcompile.model.grid import integer_grid
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.normals import Normals
from kmcompile.model.reference import evaluate
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.passes.reduction.construction import ITERATIONS, construct, refitted
from kmcompile.passes.reduction.distance import distances
from kmcompile.passes.reduction.imitation import imitate
from kmcompile.passes.reduction.pursuit import RULES, pursue
from kmcompile.passes.reduction.selection import Selection

_MOST_PRODUCTS = 4e10
"""Multiply-adds that the construction or the imitation of one machine may take: some seconds."""

_DEVIATIONS = 1.2
"""Deviations of a loss on these samples by which its limit on four times as many is larger: it is
2.3 deviations on those."""


@dataclass(frozen=True, slots=True, eq=False)
class Answers:
    """The trained machine's answers to samples, and what counts as a disagreement.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float32
    labels : ndarray of shape (n,), int64
    values : ndarray of shape (n,), float64
        The first decision of each sample, which is the value of a regression.
    tolerance : float or None
        In a regression, the largest difference that is no disagreement.
    truth : ndarray of shape (n,), int64, or None
        The right labels, where a loss is promised.
    """

    X: Float32Array
    labels: NDArray[np.int64]
    values: NDArray[np.float64]
    tolerance: float | None
    truth: NDArray[np.int64] | None = None

    @classmethod
    def of(
        cls,
        machine: KernelMachine,
        X: Float32Array,
        tolerance: float | None,
        truth: NDArray[np.int64] | None = None,
    ) -> Answers:
        """Return the answers of a trained machine."""
        reference = evaluate(machine, X)
        return cls(X, reference.labels, reference.decisions[:, 0], tolerance, truth)

    def allowed(self, risk: float) -> float:
        """Return how many disagreements let larger samples support a risk or loss."""
        return risk * len(self.X) * (0.5 if self.truth is None else 1.0)

    def disagreements(self, reduced: KernelMachine) -> float:
        """Return how many samples a reduced machine answers unlike the trained one.

        Of a loss it is the number of right labels lost, with as much more as the limit of larger
        samples adds for all that are lost and gained.
        """
        if not len(self.X):
            return 0
        reference = evaluate(reduced, self.X)
        if reduced.task is Task.REGRESSION:
            apart = np.abs(reference.decisions[:, 0] - self.values)
            return int((apart > self.tolerance).sum()) if self.tolerance is not None else 0
        tally = Tally.of(losses_of(reference.labels, self.labels, self.truth))
        if tally.gained is None:
            return tally.disagreements
        changed = tally.disagreements + tally.gained
        return tally.disagreements - tally.gained + _DEVIATIONS * math.sqrt(changed)


@dataclass(frozen=True, slots=True, eq=False)
class Made:
    """A machine of fewer vectors, and the method that made it."""

    machine: KernelMachine
    method: str


class Sizes:
    """Machines of any number of vectors, made of a trained one.

    Parameters
    ----------
    machine : KernelMachine
    most : int
        The largest number of vectors that will be asked for.
    fit : ndarray of shape (n, n_features), float32
        Samples whose decisions are imitated; may be empty.
    pick : Answers
        Other samples, which choose among the methods; without any, the least distance does.
    tell : callable
        Called with a few words as each step begins.
    on_grid : bool
        Whether moved vectors are rounded to the integer grid of the machine's vectors, if these
        lie on one, so that an integer format stores them without loss.
    """

    def __init__(
        self,
        machine: KernelMachine,
        most: int,
        fit: Float32Array,
        pick: Answers,
        tell: Callable[[str], None],
        on_grid: bool = False,
    ) -> None:
        self.machine, self.fit, self.pick, self._tell = machine, fit, pick, tell
        self._grid = integer_grid(machine) if on_grid else None
        self.normals = Normals.of(machine)
        self._made: dict[int, Made] = {}
        self._moved: dict[int, KernelMachine] = {}
        self.notes: tuple[str, ...] = ()
        tell("choosing vectors by matching pursuit")
        self.selections: dict[str, Selection] = {
            rule: pursue(machine, most, rule, normals=self.normals) for rule in RULES
        }

    @property
    def largest(self) -> int:
        """The largest number of vectors that `at` makes a machine of."""
        return min(len(chosen) for chosen in self.selections.values())

    @property
    def are_on_grid(self) -> bool:
        """Whether moved vectors are rounded to an integer grid."""
        return self._grid is not None

    def off_grid(self) -> Sizes:
        """Return the sizes without rounding to a grid: fewer vectors may do, in larger tables."""
        free = copy(self)
        free._grid, free._made = None, {}
        return free

    def selected(self, n: int) -> Made:
        """Return the best selection of n vectors."""
        made = [Made(chosen.reduced(n), rule) for rule, chosen in self.selections.items()]
        return self._best(made)

    def at(self, n: int) -> Made:
        """Return the best machine of n vectors: selected, constructed or imitated.

        Raises
        ------
        InputError
            Fewer than n vectors have any part in the machine.
        """
        if n in self._made:
            return self._made[n]
        if n > self.largest:
            raise InputError(
                f"only {self.largest:,} of the machine's {self.machine.n_support_vectors:,} "
                f"vectors are no combinations of others\nuse --reduce {self.largest} or fewer"
            )
        made = [self.selected(n)]
        if self.machine.kernel.has_gradient:
            self._tell(f"moving {n:,} vectors")
            made.append(Made(self._constructed(made[0].machine), "construction"))
            if len(self.fit):
                self._tell(f"fitting {n:,} vectors to the decisions of samples")
                made.append(Made(self._imitated(made[-1].machine), "imitation"))
        self._made[n] = self._best(made)
        return self._made[n]

    def distance(self, reduced: KernelMachine) -> float:
        """Return the largest |W_p - W^_p| / |W_p| of a decision."""
        lengths = np.sqrt(self.normals.squares)
        apart = distances(self.machine, reduced)
        return float((apart[lengths > 0] / lengths[lengths > 0]).max(initial=0.0))

    def _constructed(self, start: KernelMachine) -> KernelMachine:
        n, width = self.normals.vectors.shape
        each = n * start.n_support_vectors * (2.0 * width + 2 * len(self.normals.squares) + 20)
        moved = self._moved.get(start.n_support_vectors)
        if moved is None:
            moved = construct(self.machine, start, _iterations(each), self.normals)
            self._moved[start.n_support_vectors] = moved
        if self._grid is None:
            return moved
        return refitted(self.machine, moved, self._rounded(moved.support_vectors), self.normals)

    def _imitated(self, start: KernelMachine) -> KernelMachine:
        width = start.support_vectors.shape[1]
        each = len(self.fit) * start.n_support_vectors * (2.0 * width + 3 * start.n_decisions + 20)
        made = imitate(self.machine, start, self.fit, _iterations(each))
        if self._grid is None:
            return made
        made = refitted(self.machine, made, self._rounded(made.support_vectors), self.normals)
        return imitate(self.machine, made, self.fit, _iterations(each), moves=False)

    def _rounded(self, vectors: Float64Array) -> Float64Array:
        """Return vectors on the grid, within the range of the machine's vectors."""
        assert self._grid is not None
        offset, factor = self._grid
        own = np.rint((self.machine.support_vectors - offset) * factor)
        codes = np.rint((vectors - offset) * factor).clip(own.min(axis=0), own.max(axis=0))
        rounded: Float64Array = codes / factor + offset
        return rounded

    def _best(self, made: list[Made]) -> Made:
        """Return the machine with the fewest disagreements, or without samples the nearest one.

        Among equals it is the one of the least distance.
        """
        counts = [self.pick.disagreements(each.machine) for each in made]
        best = [each for each, n in zip(made, counts, strict=True) if n == min(counts)]
        if len(best) == 1:
            return best[0]
        return min(best, key=lambda each: self.distance(each.machine))


def _iterations(products: float) -> int:
    """Return how many iterations of so many multiply-adds there is time for."""
    return int(np.clip(_MOST_PRODUCTS / products, 10, ITERATIONS))
