"""Links: statistical exits, fitted to follow others."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.bands import Bands, fit_bands, fit_spread, least_width, limited
from kmcompile.exits.statistical.cascade_exit import CascadeExit, Misled, Seen, State
from kmcompile.exits.statistical.fits import fit_of
from kmcompile.exits.statistical.statistical_fit import Calibrated
from kmcompile.exits.statistical.trial import Estimates, Trial, try_stage
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages import Always, EarlyExit
from kmcompile.program.stages.ends import Ends


@dataclass(frozen=True, slots=True, eq=False)
class FittedExit:
    """An early exit that was fitted without others before it, and its estimates on some samples.

    Parameters
    ----------
    stage : EarlyExit
        The stage with bands that decide nothing yet.
    estimates : Estimates
    text : str
        Description of the exit with its sizes.
    """

    stage: EarlyExit
    estimates: Estimates
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class FittedLink(CascadeExit[Estimates]):
    """A fitted statistical exit at its place in a cascade.

    Parameters
    ----------
    fitted : FittedExit
    """

    fitted: FittedExit

    @property
    def stage(self) -> EarlyExit:
        """The stage, which decides nothing yet."""
        return self.fitted.stage

    @property
    def text(self) -> str:
        """Description of the exit with its sizes."""
        return self.fitted.text

    def results_on(self, seen: Seen, ends: Ends) -> Estimates:
        """Return the estimates of the exit's tests on samples."""
        return fit_of(self.stage).estimates(self.stage, ends, seen.batch.x)

    def with_limits(self, x: Float32Array, square: Float32Array) -> Self:
        """Return the link with the range of prepared samples as limits, if it watches the range."""
        limited = fit_of(self.stage).with_limits(self.stage, x, square)
        return replace(self, fitted=replace(self.fitted, stage=limited))


@dataclass(frozen=True, slots=True, eq=False)
class Link(FittedLink):
    """A statistical exit fitted to follow an exit that hands on its estimate, or to stand first.

    Parameters
    ----------
    fitted : FittedExit
    bands : tuple of Bands
        One for each test.
    spread : (float, float)
        For an exit that hands on its estimate, spread of a query = first + second * raw spread.
    """

    bands: tuple[Bands, ...]
    spread: tuple[float, float]

    def finished(self, number: int, scale: float) -> EarlyExit:
        """Return the stage with its bands at a scale, numbered among its kind."""
        half_width = np.stack([band.half_width(scale) for band in self.bands]).astype(np.float32)
        calibrated = Calibrated(self.bands, half_width, self.spread, number)
        return fit_of(self.stage).finished(self.stage, calibrated)

    def wider(self, factor: float) -> Link:
        """Return the link with wider bands, by a factor, for the tests after touched vectors."""
        touched = self.fitted.estimates.kernel_evals > 0
        bands = tuple(
            replace(band, reach=band.reach * factor) if wide else band
            for band, wide in zip(self.bands, touched, strict=True)
        )
        return replace(self, bands=bands)

    def follow(self, estimates: Estimates, before: State) -> tuple[list[Float64Array], State]:
        """Return the decisions of every test, and the state that the next exit begins with."""
        earlier = before.earlier
        previous = np.zeros(estimates.values.shape[1:]) if earlier is None else earlier
        decisions = [
            band.estimate(values, previous)
            for band, values in zip(self.bands, estimates.values, strict=True)
        ]
        if estimates.raw_spread is None:
            return decisions, before
        first, second = self.spread
        spread = limited(first + second * estimates.raw_spread.astype(np.float64))
        return decisions, replace(before, earlier=decisions[-1], spread=spread)

    def trial(
        self, results: Estimates, before: State, label: Always, scales: NDArray[np.float64]
    ) -> tuple[Trial, State]:
        """Return the trial of the exit on samples, and the state for the exit behind it."""
        decisions, after = self.follow(results, before)
        return try_stage(results, decisions, self.bands, after.spread, label, scales), after

    def with_floor(self, results: Estimates, before: State, misled: Misled) -> Link:
        """Return the link with bands in which every wrong estimate of generated points lies."""
        decisions, after = self.follow(results, before)
        bands = tuple(
            replace(band, floor=_floor(band, estimate / after.spread[:, None], misled))
            for band, estimate in zip(self.bands, decisions, strict=True)
        )
        return replace(self, bands=bands)

    def is_widened(self, scale: float) -> bool:
        """Return whether the floor of a band makes it wider at a scale."""
        return any(band.is_widened(scale) for band in self.bands)


def link(
    fitted: FittedExit,
    before: State,
    decisions: Float64Array,
    relevant: NDArray[np.bool_],
) -> Link:
    """Return the stage, fitted to follow the state that the exits before it hand on.

    Parameters
    ----------
    fitted : FittedExit
        The exit with its estimates on the choice samples.
    before : State
        The state before the exit on the choice samples.
    decisions : ndarray of shape (n_samples, n_decisions), float64
        The model's decisions.
    relevant : ndarray of shape (n_samples, n_decisions), bool
    """
    stage, estimates = fitted.stage, fitted.estimates
    reach = fit_of(stage).reach
    earlier = before.earlier if stage.takes_estimate else None
    spread, line = before.spread, (1.0, 0.0)
    if estimates.raw_spread is not None:
        even = np.ones(len(decisions))
        band = fit_bands(estimates.values[0], earlier, even, decisions, relevant, reach(stage, 0))
        previous = np.zeros_like(decisions) if earlier is None else earlier
        error = decisions - band.estimate(estimates.values[0], previous)
        line = fit_spread(estimates.raw_spread, error, decisions, relevant)
        spread = limited(line[0] + line[1] * estimates.raw_spread.astype(np.float64))
    bands = tuple(
        fit_bands(values, earlier, spread, decisions, relevant, reach(stage, test))
        for test, values in enumerate(estimates.values)
    )
    return Link(fitted, bands, line)


def _floor(band: Bands, estimate: Float64Array, misled: Misled) -> Float64Array:
    """Return the floor of a band for estimates of generated points, each over its spread."""
    wrong = misled.counts & (estimate * misled.decisions < 0)
    unscaled = band.half_width(1.0)
    return np.array(
        [
            least_width(np.abs(estimate[wrong[:, p], p]), float(unscaled[p]), misled.scale)
            for p in range(estimate.shape[1])
        ]
    )
