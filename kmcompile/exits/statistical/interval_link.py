"""The test of a proved interval's ratio at its place behind certified exits."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.bands import is_widened, least_width, width
from kmcompile.exits.statistical.cascade_exit import Misled, State
from kmcompile.exits.statistical.fits import fit_of
from kmcompile.exits.statistical.links import FittedExit, FittedLink
from kmcompile.exits.statistical.ratio import share_of
from kmcompile.exits.statistical.statistical_fit import Calibrated
from kmcompile.exits.statistical.trial import Estimates, Trial, largest_scale
from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.stages import Always, EarlyExit
from kmcompile.program.stages.early_exits.interval_ratio import middle_and_half


@dataclass(frozen=True, slots=True, eq=False)
class IntervalLink(FittedLink):
    """The test of the intervals that the certified exits before it leave.

    Parameters
    ----------
    fitted : FittedExit
    reach : float
        log(r) at a scale of 1, r the ratio of the two sides of 0.
    floor : float
        Least log(r) at any of `risk.SCALES`; 0 where no generated point misleads the test.
    """

    reach: float
    floor: float = 0.0

    @classmethod
    def of(
        cls,
        fitted: FittedExit,
        before: State,
        decisions: Float64Array,
        relevant: NDArray[np.bool_],
    ) -> IntervalLink:
        """Return the test with the ratio beyond which no given sample flips, and at least 4.

        Parameters
        ----------
        fitted : FittedExit
        before : State
            The state before the test on the samples.
        decisions : ndarray of shape (n_samples, n_decisions), float64
            The model's decisions.
        relevant : ndarray of shape (n_samples, n_decisions), bool
        """
        worst = _flips(before, decisions, relevant).max(initial=0.0)
        return cls(fitted, max(fit_of(fitted.stage).reach(fitted.stage, 0), float(worst)))

    def trial(
        self, results: Estimates, before: State, label: Always, scales: NDArray[np.float64]
    ) -> tuple[Trial, State]:
        """Return the trial of the test on samples; the state does not change."""
        middle, half = middle_and_half(before.least, before.most)

        def half_width(rows: NDArray[np.intp], scale: NDArray[np.float64]) -> Float64Array:
            share = share_of(width(scale, self.reach, self.floor).astype(np.float32))
            return (share[:, None] * half[rows]).astype(np.float64)

        scale, labels = largest_scale(middle.astype(np.float64), half_width, label, scales)
        return Trial(scale[None], labels[None], results.operations, None), before

    def finished(self, number: int, scale: float) -> EarlyExit:
        """Return the test with its ratio at a scale."""
        half_width = np.full((1, 1), width(scale, self.reach, self.floor), dtype=np.float32)
        return fit_of(self.stage).finished(self.stage, Calibrated((), half_width, (1, 0), number))

    def with_floor(self, results: Estimates, before: State, misled: Misled) -> IntervalLink:
        """Return the test with a ratio beyond which no generated point flips."""
        flips = _flips(before, misled.decisions, misled.counts)
        return replace(self, floor=least_width(flips, self.reach, misled.scale))

    def is_widened(self, scale: float) -> bool:
        """Return whether the floor makes the ratio larger at a scale."""
        return is_widened(scale, self.reach, self.floor)


def _flips(before: State, decisions: Float64Array, relevant: NDArray[np.bool_]) -> Float64Array:
    """Return |log(r)| of the relevant intervals whose wider side of 0 is the wrong one."""
    least, most = before.least.astype(np.float64), before.most.astype(np.float64)
    flips = relevant & (least < 0) & (most > 0) & ((least + most) * decisions < 0)
    found: Float64Array = np.abs(np.log(most[flips] / -least[flips]))
    return found
