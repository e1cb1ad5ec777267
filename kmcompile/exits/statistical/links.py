"""Links: an early exit fitted to follow another, and what it does with the choice samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.bands import Bands, fit_bands, fit_spread, limited
from kmcompile.exits.statistical.fits import fit_of
from kmcompile.exits.statistical.risk import SCALES
from kmcompile.exits.statistical.trial import Estimates, Trial, in_a_row, try_stage
from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.stages import Always, EarlyExit


@dataclass(frozen=True, slots=True, eq=False)
class FittedExit:
    """An early exit that was fitted by itself, and what its tests see of some samples.

    Parameters
    ----------
    stage : EarlyExit
        With bands that decide nothing.
    estimates : Estimates
    text : str
        What it is, with its sizes.
    """

    stage: EarlyExit
    estimates: Estimates
    text: str


@dataclass(frozen=True, slots=True, eq=False)
class State:
    """What an exit hands on: its estimates and the spread of each sample."""

    earlier: Float64Array | None
    spread: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """An early exit fitted to follow one that hands on its estimate, or none.

    Parameters
    ----------
    fitted : FittedExit
    bands : tuple of Bands
        One a test.
    spread : (float, float)
        Of an exit that hands on its estimate: spread of a query = first + second * what it says.
    """

    fitted: FittedExit
    bands: tuple[Bands, ...]
    spread: tuple[float, float]

    def wider(self, factor: float) -> Link:
        """Return the link with bands of the tests after touched vectors that reach further."""
        touched = self.fitted.estimates.kernel_evals > 0
        bands = tuple(
            replace(band, reach=band.reach * factor) if wide else band
            for band, wide in zip(self.bands, touched, strict=True)
        )
        return replace(self, bands=bands)

    def follow(self, estimates: Estimates, before: State) -> tuple[list[Float64Array], State]:
        """Return the decisions of every test and what the next one begins with."""
        earlier = before.earlier
        previous = np.zeros(estimates.values.shape[1:]) if earlier is None else earlier
        decisions = [
            band.estimate(values, previous)
            for band, values in zip(self.bands, estimates.values, strict=True)
        ]
        if estimates.raw_spread is None:
            return decisions, before
        first, second = self.spread
        return decisions, State(
            decisions[-1], limited(first + second * estimates.raw_spread.astype(np.float64))
        )

    def trial(
        self, estimates: Estimates, before: State, label: Always, scales: NDArray[np.float64]
    ) -> tuple[Trial, State]:
        """Return what the stage does with samples, and what the next one begins with."""
        decisions, after = self.follow(estimates, before)
        widths = [band.half_width(1.0) for band in self.bands]
        return try_stage(estimates, decisions, widths, after.spread, label, scales), after


def link(
    fitted: FittedExit,
    before: State,
    decisions: Float64Array,
    relevant: NDArray[np.bool_],
) -> Link:
    """Return the stage fitted to follow what came before.

    Parameters
    ----------
    fitted : FittedExit
        With its estimates of the choice samples.
    before : State
        Of the same.
    decisions : ndarray of shape (n_samples, n_decisions), float64
        The model's.
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


def trial_of(links: Sequence[Link], estimates: Sequence[Estimates], label: Always) -> Trial:
    """Return what a sequence of early exits does with samples.

    Parameters
    ----------
    links : sequence of Link
    estimates : sequence of Estimates
        Of the same samples, one a link.
    label : Always
        The label stage of the program.
    """
    state = State(None, np.ones(estimates[0].values.shape[1]))
    trials = []
    for made, seen in zip(links, estimates, strict=True):
        trial, state = made.trial(seen, state, label, np.array(SCALES))
        trials.append(trial)
    return in_a_row(trials)
