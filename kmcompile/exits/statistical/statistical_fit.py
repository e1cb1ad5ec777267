"""What calibration asks of one kind of early exit: how it is fitted, tried and given its bands."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.bands import Bands
from kmcompile.exits.statistical.trial import Estimates
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages import EarlyExit
from kmcompile.program.stages.ends import Ends

_S = TypeVar("_S", bound=EarlyExit)

Job = tuple[Callable[..., EarlyExit], tuple[Any, ...], str]
"""A function that fits an exit, its arguments, and what the exit is, with its sizes."""


@dataclass(frozen=True, slots=True, eq=False)
class FitSamples:
    """What exits are fitted to.

    Parameters
    ----------
    ends : Ends
        Of the exact program.
    x : ndarray of shape (n_samples, n_features), float32
        Prepared samples of the shape part.
    decisions : ndarray of shape (n_samples, n_decisions), float64
        The model's.
    relevant : ndarray of shape (n_samples, n_decisions), bool
        The samples that a decision is about.
    skip_zeros : bool
        Whether the C goes through a list of the features that are not 0.
    n_jobs : int or None
        Of joblib; the exits are the same for any number.
    """

    ends: Ends
    x: Float32Array
    decisions: Float64Array
    relevant: NDArray[np.bool_]
    skip_zeros: bool
    n_jobs: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """What calibration found for an exit at its place.

    Parameters
    ----------
    bands : tuple of Bands
        One a test.
    half_width : ndarray of shape (n_tests, n_decisions), float32
        At the scale of the program, for a query with a spread of 1.
    spread : (float, float)
        Of an exit that hands on its estimate: spread of a query = first + second * what it says.
    number : int
        1 for the first exit of its kind in the program, ...
    """

    bands: tuple[Bands, ...]
    half_width: Float32Array
    spread: tuple[float, float]
    number: int


class StatisticalFit(ABC, Generic[_S]):
    """One kind of statistical exit, as calibration sees it.

    A stage is fitted by itself, with bands that decide nothing. `Estimates` say what its tests see
    of samples; of these come its bands, and with the bands the stage that is in the program.
    """

    kind: ClassVar[type[EarlyExit]]
    """The class of its stages."""

    most: ClassVar[int] = 1
    """How many stages of the kind may stand in a program, the cheaper ones first."""

    @abstractmethod
    def jobs(self, samples: FitSamples) -> Iterator[Job]:
        """Yield what fits the stages of this kind that are to be compared; nothing is a choice.

        A job may raise numpy.linalg.LinAlgError where the samples do not determine its stage.
        """

    @abstractmethod
    def estimates(self, stage: _S, ends: Ends, x: Float32Array) -> Estimates:
        """Return what the tests of a stage see of prepared samples.

        Parameters
        ----------
        stage : EarlyExit
            As it was fitted, by itself.
        x : ndarray of shape (n_samples, n_features), float32
        """

    @abstractmethod
    def reach(self, stage: _S, test: int) -> float:
        """Return how far the band of a test reaches at a scale of 1, in standard deviations."""

    @abstractmethod
    def finished(self, stage: _S, calibrated: Calibrated) -> EarlyExit:
        """Return the stage with its bands."""

    def with_limits(self, stage: _S, x: Float32Array) -> EarlyExit:
        """Return the stage with the range of prepared samples, if it watches the range."""
        return stage

    def ram_bytes(self, stage: _S) -> int:
        """Return what it takes in the workspace beyond a few numbers."""
        return 0
