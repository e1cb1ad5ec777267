"""Links: early exits fitted to follow another exit, and their results on the choice samples."""

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
class State:
    """The values that an exit hands on: its estimates and the spread of each sample."""

    earlier: Float64Array | None
    spread: Float64Array


@dataclass(frozen=True, slots=True, eq=False)
class Link:
    """An early exit fitted to follow an exit that hands on its estimate, or to stand first.

    Parameters
    ----------
    fitted : FittedExit
    bands : tuple of Bands
        One for each test.
    spread : (float, float)
        For an exit that hands on its estimate, spread of a query = first + second * raw spread.
    """

    fitted: FittedExit
    bands: tuple[Bands, ...]
    spread: tuple[float, float]

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
        return decisions, State(
            decisions[-1], limited(first + second * estimates.raw_spread.astype(np.float64))
        )

    def trial(
        self, estimates: Estimates, before: State, label: Always, scales: NDArray[np.float64]
    ) -> tuple[Trial, State]:
        """Return the trial of the stage on samples, and the state for the exit behind it."""
        decisions, after = self.follow(estimates, before)
        widths = [band.half_width(1.0) for band in self.bands]
        return try_stage(estimates, decisions, widths, after.spread, label, scales), after


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


def trial_of(links: Sequence[Link], estimates: Sequence[Estimates], label: Always) -> Trial:
    """Return the trial of a sequence of early exits on samples.

    Parameters
    ----------
    links : sequence of Link
    estimates : sequence of Estimates
        One for each link, all on the same samples.
    label : Always
        The label stage of the program.
    """
    state = State(None, np.ones(estimates[0].values.shape[1]))
    trials = []
    for made, seen in zip(links, estimates, strict=True):
        trial, state = made.trial(seen, state, label, np.array(SCALES))
        trials.append(trial)
    return in_a_row(trials)
