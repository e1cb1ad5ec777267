"""The interface of a kind of statistical exit: how it is fitted, tried and given its bands."""

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
"""A function that fits an exit, its arguments, and the exit's description with its sizes."""


@dataclass(frozen=True, slots=True, eq=False)
class FitSamples:
    """The samples and the program to which exits are fitted.

    Parameters
    ----------
    ends : Ends
        The last stages of the exact program.
    x : ndarray of shape (n_samples, n_features), float32
        Prepared samples of the shape part.
    decisions : ndarray of shape (n_samples, n_decisions), float64
        The model's decisions.
    relevant : ndarray of shape (n_samples, n_decisions), bool
        For each decision, the samples of its pair's two classes.
    skip_zeros : bool
        Whether the C reads a list of the nonzero features.
    n_jobs : int or None
        Number of joblib jobs; it does not change the exits.
    """

    ends: Ends
    x: Float32Array
    decisions: Float64Array
    relevant: NDArray[np.bool_]
    skip_zeros: bool
    n_jobs: int | None


@dataclass(frozen=True, slots=True, eq=False)
class Calibrated:
    """The calibrated values of an exit at its place in the program.

    Parameters
    ----------
    bands : tuple of Bands
        One for each test.
    half_width : ndarray of shape (n_tests, n_decisions), float32
        Half-widths of the bands at the program's scale, for a query with spread 1.
    spread : (float, float)
        For an exit that hands on its estimate, spread of a query = first + second * raw spread.
    number : int
        Position among the exits of its kind in the program, from 1.
    """

    bands: tuple[Bands, ...]
    half_width: Float32Array
    spread: tuple[float, float]
    number: int


class StatisticalFit(ABC, Generic[_S]):
    """One kind of statistical exit, as calibration uses it.

    A stage is fitted without exits before it, with bands that decide nothing. `estimates` gives the
    values of its tests on samples. The bands come from these values, and `finished` returns the
    stage with its bands.
    """

    kind: ClassVar[type[EarlyExit]]
    """The class of its stages."""

    most: ClassVar[int] = 1
    """How many stages of the kind may stand in a program, the cheaper ones first."""

    reads_intervals: ClassVar[bool] = False
    """Whether its stages test the intervals that certified exits before them prove."""

    tests_leads: ClassVar[bool] = False
    """Whether the values of its stages are scores of classes, and the largest score's lead is
    tested."""

    def why_not(self, ends: Ends) -> str:
        """Return why a program with this sum cannot have such an exit; "" if it can."""
        return ""

    @abstractmethod
    def jobs(self, samples: FitSamples, required: bool = False) -> Iterator[Job]:
        """Yield the jobs that fit the stages of this kind; the chooser compares the fitted stages.

        It, and a job, may raise numpy.linalg.LinAlgError if the samples do not determine a stage.

        Parameters
        ----------
        samples : FitSamples
        required : bool
            Whether the program must have such an exit. There is then at least one job, even if
            its stage will hardly pay.
        """

    @abstractmethod
    def estimates(self, stage: _S, ends: Ends, x: Float32Array) -> Estimates:
        """Return the estimates of a stage's tests on prepared samples.

        Parameters
        ----------
        stage : EarlyExit
            The stage as it was fitted, without stages before it.
        x : ndarray of shape (n_samples, n_features), float32
        """

    @abstractmethod
    def reach(self, stage: _S, test: int) -> float:
        """Return how far the band of a test reaches at a scale of 1, in standard deviations."""

    @abstractmethod
    def finished(self, stage: _S, calibrated: Calibrated) -> EarlyExit:
        """Return the stage with its calibrated bands."""

    def with_limits(self, stage: _S, x: Float32Array, square: Float32Array) -> EarlyExit:
        """Return the stage with the range of prepared samples as limits, if it has limits.

        Parameters
        ----------
        stage : EarlyExit
        x : ndarray of shape (n_samples, n_features), float32
        square : ndarray of shape (n_samples,), float32
            |x|^2 of each sample as the range gate hands it on.
        """
        return stage

    def ram_bytes(self, stage: _S) -> int:
        """Return the workspace bytes of the stage beyond a few numbers."""
        return 0
