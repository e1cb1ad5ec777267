"""The test of class scores at its place in a cascade: the lead of the largest score."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.bands import least_width, near_boundary, shares
from kmcompile.exits.statistical.class_scores import class_of, pair_signs
from kmcompile.exits.statistical.fits import fit_of
from kmcompile.exits.statistical.links import CascadeExit, FittedExit, Misled, Seen, State
from kmcompile.exits.statistical.statistical_fit import Calibrated
from kmcompile.exits.statistical.trial import Estimates, Trial
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages import Always, EarlyExit
from kmcompile.program.stages.class_scores import leads_of
from kmcompile.program.stages.ends import Ends


@dataclass(frozen=True, slots=True, eq=False)
class LeadLink(CascadeExit[Estimates]):
    """Class scores with one band, that of the lead of the largest score.

    Parameters
    ----------
    fitted : FittedExit
    width : float
        Half-width of the band at a scale of 1.
    floor : float
        Least half-width at any of `risk.SCALES`; 0 where no generated point misleads the test.
    """

    fitted: FittedExit
    width: float
    floor: float = 0.0

    @classmethod
    def of(
        cls,
        fitted: FittedExit,
        before: State,
        decisions: Float64Array,
        relevant: NDArray[np.bool_],
    ) -> LeadLink:
        """Return the test with a band in which every sample lies that gets a wrong label.

        The band is at least `reach` standard deviations of the lead's error wide, near the
        boundary: the lead of the machine's class against its smallest decision of a pair.

        Parameters
        ----------
        fitted : FittedExit
        before : State
            What exits before hand on; it does not matter here.
        decisions : ndarray of shape (n_samples, n_decisions), float64
            The model's decisions.
        relevant : ndarray of shape (n_samples, n_decisions), bool
            The pairs of a sample's class.
        """
        scores = fitted.estimates.values[0].astype(np.float64)
        label = class_of(relevant)
        pairs = pair_signs(scores.shape[1])
        signs = pairs[label]
        margin = np.where(relevant, decisions * signs, np.inf).min(axis=1)
        lead = np.where(relevant, (scores @ pairs) * signs, np.inf).min(axis=1)
        near = near_boundary(margin, np.ones(len(margin), dtype=bool))
        deviation = float((lead[near] - margin[near]).std()) if len(near) else np.inf
        reach = fit_of(fitted.stage).reach(fitted.stage, 0)
        smallest = 1e-6 * float(np.abs(scores).max(initial=0.0))
        wrong = float(-lead.min(initial=0.0))
        return cls(fitted, max(reach * deviation, wrong, smallest))

    @property
    def stage(self) -> EarlyExit:
        """The scores, which decide nothing yet."""
        return self.fitted.stage

    @property
    def text(self) -> str:
        """Description of the exit with its sizes."""
        return self.fitted.text

    def results_on(self, seen: Seen, ends: Ends) -> Estimates:
        """Return the scores on samples."""
        return fit_of(self.stage).estimates(self.stage, ends, seen.batch.x)

    def trial(
        self, results: Estimates, before: State, label: Always, scales: NDArray[np.float64]
    ) -> tuple[Trial, State]:
        """Return the trial of the test on samples; the state does not change."""
        labels, leads = leads_of(results.values[0])
        lead = leads.min(axis=1)
        widths = self._half_width(scales).astype(np.float32)  # they fall with the scale
        first = np.searchsorted(-widths, -lead, side="right")
        scale = np.append(scales, 0.0)[first]
        return Trial(scale[None], labels[None], results.operations, None), before

    def finished(self, number: int, scale: float) -> EarlyExit:
        """Return the scores with their half-width at a scale, numbered among their kind."""
        half_width = np.full((1, 1), self._half_width(scale), dtype=np.float32)
        return fit_of(self.stage).finished(self.stage, Calibrated((), half_width, (1, 0), number))

    def with_limits(self, x: Float32Array, square: Float32Array) -> LeadLink:
        """Return the link with the range of prepared samples as limits, if it watches the range."""
        limited = fit_of(self.stage).with_limits(self.stage, x, square)
        return replace(self, fitted=replace(self.fitted, stage=limited))

    def with_floor(self, results: Estimates, before: State, misled: Misled) -> LeadLink:
        """Return the test with a band in which every generated point lies that it misleads."""
        labels, leads = leads_of(results.values[0])
        wrong = misled.counts.any(axis=1) & (labels != class_of(misled.counts))
        sizes = leads[wrong].min(axis=1).astype(np.float64)
        return replace(self, floor=least_width(sizes, self.width, misled.scale))

    def is_widened(self, scale: float) -> bool:
        """Return whether the floor makes the band wider at a scale."""
        return bool(self._half_width(scale) > replace(self, floor=0.0)._half_width(scale))

    def _half_width(self, scale: float | Float64Array) -> Float64Array:
        of_scale, of_floor = shares(scale)
        found: Float64Array = np.maximum(of_scale * self.width, of_floor * self.floor)
        return found
