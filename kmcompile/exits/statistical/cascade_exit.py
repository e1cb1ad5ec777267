"""An early exit at its place in a cascade: what it sees, and what it hands on."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.certified.choice import TriedExit
from kmcompile.exits.statistical.risk import PATH
from kmcompile.exits.statistical.trial import Trial, in_a_row
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import Always, EarlyExit
from kmcompile.program.stages.ends import Ends


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """The values that an exit hands on.

    Parameters
    ----------
    earlier : ndarray of shape (n_samples, n_decisions), float64, or None
        The estimates of the last exit that hands them on.
    spread : ndarray of shape (n_samples,), float64
        The spread of each sample.
    least, most : ndarray of shape (n_samples, n_decisions), float32
        The intervals that certified exits have proved.
    """

    earlier: Float64Array | None
    spread: Float64Array
    least: Float32Array
    most: Float32Array

    def narrowed(self, tried: TriedExit) -> State:
        """Return the state behind a certified exit that was tried on the samples."""
        least, most = np.maximum(self.least, tried.least), np.minimum(self.most, tried.most)
        return replace(self, least=least, most=most)


@dataclass(frozen=True, slots=True, eq=False)
class Seen:
    """Samples as the trials of early exits see them.

    Parameters
    ----------
    batch : Batch
        The samples after the preprocessing.
    labels : ndarray of shape (n_samples,), int32
        The model's labels.
    """

    batch: Batch
    labels: NDArray[np.int32]

    @property
    def begin(self) -> State:
        """The state before the first exit."""
        return State(None, np.ones(len(self.labels)), self.batch.least, self.batch.most)


@dataclass(frozen=True, slots=True, eq=False)
class Misled:
    """Generated points that no exit before has decided, as an exit sees them.

    Parameters
    ----------
    decisions : ndarray of shape (n_points, n_decisions), float64
        The model's decisions.
    counts : ndarray of shape (n_points, n_decisions), bool
        Whether the decision is one of the pairs of the point's class, and the point gets here.
    scale : float
        About the scale that the control samples will give. No floor is wider than the band there.
    """

    decisions: Float64Array
    counts: NDArray[np.bool_]
    scale: float


_T = TypeVar("_T")


class CascadeExit(ABC, Generic[_T]):
    """An early exit at its place in a cascade, statistical or certified."""

    @property
    @abstractmethod
    def stage(self) -> EarlyExit:
        """The stage, without the bands that calibration sets."""

    @property
    @abstractmethod
    def text(self) -> str:
        """Description of the exit with its sizes."""

    @abstractmethod
    def results_on(self, seen: Seen, ends: Ends) -> _T:
        """Return what the exit computes on samples, from which `trial` works at any place."""

    @abstractmethod
    def trial(
        self, results: _T, before: State, label: Always, scales: NDArray[np.float64]
    ) -> tuple[Trial, State]:
        """Return the trial of the exit on samples, and the state for the exit behind it."""

    @abstractmethod
    def finished(self, number: int, scale: float) -> EarlyExit:
        """Return the stage with its bands at a scale, numbered among its kind."""

    def wider(self, factor: float) -> CascadeExit[_T]:
        """Return the exit with wider bands, by a factor, for the tests after touched vectors."""
        return self

    def with_floor(self, results: _T, before: State, misled: Misled) -> CascadeExit[_T]:
        """Return the exit with bands that no generated point on the wrong side is outside of.

        Parameters
        ----------
        results
            What `results_on` returned for the points.
        before : State
            The state before the exit on the points.
        misled : Misled
        """
        return self

    def is_widened(self, scale: float) -> bool:
        """Return whether the floor of a band makes it wider at a scale."""
        return False

    def with_limits(self, x: Float32Array, square: Float32Array) -> CascadeExit[_T]:
        """Return the exit with the range of prepared samples as limits, if it watches the range.

        `square` is |x|^2 of each sample as the range gate hands it on, shape (n_samples,).
        """
        return self


def trial_of(
    links: Sequence[CascadeExit[Any]],
    results: Sequence[Any],
    begin: State,
    label: Always,
    prices: Sequence[float] | None = None,
) -> Trial:
    """Return the trial of a sequence of early exits on samples.

    Parameters
    ----------
    links : sequence of CascadeExit
    results : sequence
        What `results_on` returned for each of them, all on the same samples.
    begin : State
        The state before the first exit.
    label : Always
        The label stage of the program.
    prices : sequence of float, optional
        Instructions of an operation of each exit; by default no instructions are estimated.
    """
    state = begin
    trials = []
    for made, computed in zip(links, results, strict=True):
        trial, state = made.trial(computed, state, label, np.array(PATH))
        trials.append(trial)
    return in_a_row(trials, prices)
