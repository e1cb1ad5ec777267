"""A bounded search for inputs that leave a program at a given stage with a given label."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import Status, classify
from kmcompile.program.program import Program

_STAGE = 1 << 17
"""Number of places in one stage, more than the largest number of touched vectors, a uint16."""

_BISECTIONS = 60
_SEEK_STEPS = 12
_MOST_SEGMENTS = 12
"""Largest number of pairs of inputs between which one round looks for a goal."""

_STARTS = 4
_SHARES_AWAY = (0.5, 1.0, 2.0, 4.0)
"""Distances by which an input is moved away from others, relative to its distance from them."""


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """The paths of inputs through a program.

    Parameters
    ----------
    place : ndarray of shape (n,), int64
        The place where each input left, in the order of the program: the stage and, at an early
        exit, the kernels spent. Places beyond the last stage: out of the calibrated range, refused.
    label : ndarray of shape (n,), int64
        -1 beyond the last stage.
    """

    place: NDArray[np.int64]
    label: NDArray[np.int64]

    def chosen(self, rows: NDArray[np.intp] | NDArray[np.bool_]) -> Paths:
        """Return the paths of the chosen inputs only."""
        return Paths(self.place[rows], self.label[rows])

    def differ(self, other: Paths) -> NDArray[np.bool_]:
        """Return which pairs took different paths."""
        unlike: NDArray[np.bool_] = (self.place != other.place) | (self.label != other.label)
        return unlike


@dataclass(frozen=True, slots=True)
class Goal:
    """A kind of path to find: first <= place < end, with a given label or any (None)."""

    first: int
    end: int
    label: int | None

    @classmethod
    def decided(cls, stage: int, label: int | None) -> Goal:
        """Return the goal that a stage decides with this label, or with any."""
        return cls(stage * _STAGE, (stage + 1) * _STAGE, label)

    @classmethod
    def tested(cls, stage: int, kernel_evals: int) -> Goal:
        """Return the goal that a stage decides after this number of kernels."""
        return cls(stage * _STAGE + kernel_evals, stage * _STAGE + kernel_evals + 1, None)

    @property
    def stage(self) -> int:
        """Index into the exit stages."""
        return self.first // _STAGE

    @property
    def is_whole_stage(self) -> bool:
        """Whether any number of kernels meets the goal."""
        return self.end - self.first == _STAGE

    @property
    def kernel_evals(self) -> int:
        """Number of kernels spent at the first place."""
        return self.first % _STAGE

    def hit(self, paths: Paths) -> NDArray[np.bool_]:
        """Return which paths meet the goal."""
        there = (paths.place >= self.first) & (paths.place < self.end)
        return there if self.label is None else there & (paths.label == self.label)


class PathSearch:
    """The inputs classified so far with their paths, at most `most_calls` of them.

    Attributes
    ----------
    X : ndarray of shape (n_asked, n_features), float32
    paths : Paths
    """

    def __init__(self, program: Program, most_calls: int, rng: np.random.Generator) -> None:
        self._program = program
        self._most_calls = most_calls
        self._rng = rng
        self.X: Float32Array = np.zeros((0, program.n_features), dtype=np.float32)
        self.paths = Paths(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    @property
    def n_left(self) -> int:
        """Number of inputs that may still be classified."""
        return self._most_calls - len(self.X)

    @property
    def out_of_range(self) -> NDArray[np.bool_]:
        """Which classified inputs are accepted and out of the calibrated range."""
        found: NDArray[np.bool_] = self.paths.place == self._beyond
        return found

    @property
    def in_range(self) -> NDArray[np.bool_]:
        """Which classified inputs are accepted and in the calibrated range."""
        found: NDArray[np.bool_] = self.paths.place < self._beyond
        return found

    @property
    def _beyond(self) -> int:
        return len(self._program.exit_stages) * _STAGE

    def ask(self, X: Float32Array) -> Paths:
        """Classify inputs, at most `n_left`, and keep them with their paths."""
        X = X[: self.n_left]
        results, _ = classify(self._program, X)
        stage = results["stage"].astype(np.int64)
        early = stage < len(self._program.early_exits)
        place = stage * _STAGE + np.where(early, results["kernel_evals"], 0)
        place[~results["in_range"]] = self._beyond
        place[results["status"] != Status.OK] = self._beyond + _STAGE
        label = np.where(place < self._beyond, results["label"], -1).astype(np.int64)
        paths = Paths(place, label)
        self.X = np.concatenate([self.X, X])
        self.paths = Paths(
            np.concatenate([self.paths.place, paths.place]),
            np.concatenate([self.paths.label, paths.label]),
        )
        return paths

    def missing(self, goals: list[Goal]) -> list[Goal]:
        """Return the goals that no input has hit."""
        return [goal for goal in goals if not goal.hit(self.paths).any()]

    def extrapolate(self, goals: list[Goal]) -> None:
        """Look for missing goals away from the inputs of other labels, where easy inputs are."""
        made = [self.X[:0]]
        for goal in self.missing([t for t in goals if t.label is not None]):
            own = self.paths.label == goal.label
            other = self.in_range & ~own
            if not own.any() or not other.any():
                continue
            a, b = self._some(own, _STARTS), self._some(other, _STARTS)
            away = self.X[a].astype(np.float64) - self.X[b]
            made += [(self.X[a] + share * away).astype(np.float32) for share in _SHARES_AWAY]
        self.ask(np.concatenate(made))

    def seek(self, goals: list[Goal], n_calls: int) -> None:
        """Look for missing goals between inputs that leave before a goal and beyond it.

        This bisects on the place. An input that leaves later, or with another label, is beyond.

        Parameters
        ----------
        goals : list of Goal
        n_calls : int
            Approximate limit of classified inputs. Each goal gets at least one pair in any case.
        """
        wanted = self.missing(goals)
        each = int(np.clip(n_calls // (_SEEK_STEPS * max(1, len(wanted))), 1, _MOST_SEGMENTS))
        segments = [(t, a, b) for t in wanted for a, b in self._around(t, each)]
        if not segments:
            return
        a = self.X[[segment[1] for segment in segments]]
        b = self.X[[segment[2] for segment in segments]]
        label = self.paths.label[[segment[1] for segment in segments]]
        first = np.array([segment[0].first for segment in segments])
        for _ in range(_SEEK_STEPS):
            open_ = np.array([not t.hit(self.paths).any() for t, _, _ in segments])
            if not 0 < open_.sum() <= self.n_left:
                return
            middle = _middle(a[open_], b[open_])
            paths = self.ask(middle)
            before = (paths.place < first[open_]) & (paths.label == label[open_])
            a[open_] = np.where(before[:, None], middle, a[open_])
            b[open_] = np.where(before[:, None], b[open_], middle)

    def straddle(self, a: NDArray[np.intp], b: NDArray[np.intp]) -> Float32Array:
        """Return neighbours in float32 that take different paths, the first one the path of X[a].

        Parameters
        ----------
        a, b : ndarray of shape (n_pairs,), intp
            Pairs of classified inputs that took different paths.

        Returns
        -------
        ndarray of shape (2 n_pairs, n_features), float32
            The first inputs of all pairs, then the second ones. They are farther apart than
            neighbours if `n_left` ran out.
        """
        own = self.paths.chosen(a)
        left, right = self.X[a], self.X[b]
        for _ in range(_BISECTIONS):
            middle = _middle(left, right)
            open_ = (middle != left).any(axis=1) & (middle != right).any(axis=1)
            if not 0 < open_.sum() <= self.n_left:
                break
            same = np.zeros((len(a), 1), dtype=bool)
            same[open_, 0] = ~self.ask(middle[open_]).differ(own.chosen(open_))
            left = np.where(open_[:, None] & same, middle, left)
            right = np.where(open_[:, None] & ~same, middle, right)
        return np.concatenate([left, right])

    def _around(self, goal: Goal, n: int) -> list[tuple[int, int]]:
        """Return pairs of classified inputs, one before a goal and one beyond."""
        before = self.paths.place < goal.first
        if goal.label is not None:
            before &= self.paths.label == goal.label
        pairs = []
        for a in self._some(before, n):
            beyond = (self.paths.place >= goal.end) | (self.paths.label != self.paths.label[a])
            pairs += [(int(a), int(b)) for b in self._some(beyond, 1)]
        return pairs

    def _some(self, which: NDArray[np.bool_], n: int) -> NDArray[np.intp]:
        """Return up to n of the classified inputs in random order."""
        rows = np.flatnonzero(which)
        return rows[self._rng.integers(len(rows), size=n)] if len(rows) else rows


def _middle(a: Float32Array, b: Float32Array) -> Float32Array:
    middle: Float32Array = (a.astype(np.float64) / 2 + b.astype(np.float64) / 2).astype(np.float32)
    return middle
