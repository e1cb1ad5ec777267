"""The test of class scores at its place in a cascade: the lead of the largest score."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.bands import is_widened, least_width, near_boundary, width
from kmcompile.exits.statistical.cascade_exit import Misled, State
from kmcompile.exits.statistical.class_scores import class_of, pair_signs
from kmcompile.exits.statistical.fits import fit_of
from kmcompile.exits.statistical.links import FittedExit, FittedLink
from kmcompile.exits.statistical.statistical_fit import Calibrated
from kmcompile.exits.statistical.trial import Estimates, Trial
from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.stages import Always, EarlyExit
from kmcompile.program.stages.early_exits.class_scores import leads_of


@dataclass(frozen=True, slots=True, eq=False)
class LeadLink(FittedLink):
    """Class scores with a band for each class, that of the lead of its score over all others.

    Parameters
    ----------
    fitted : FittedExit
    width : ndarray of shape (n_classes,), float64
        Half-widths of the bands at a scale of 1, by the class that leads.
    floor : ndarray of shape (n_classes,), float64
        Least half-widths at any of `risk.SCALES`; 0 where no generated point misleads the test.
    """

    width: Float64Array
    floor: Float64Array

    @classmethod
    def of(
        cls,
        fitted: FittedExit,
        before: State,
        decisions: Float64Array,
        relevant: NDArray[np.bool_],
    ) -> LeadLink:
        """Return the test with bands in which every sample lies that gets a wrong label.

        A band is at least `reach` standard deviations of the lead's error wide, near the
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
        width = np.full(scores.shape[1], max(reach * deviation, smallest))
        leading, leads = leads_of(fitted.estimates.values[0])
        wrong = leading != label
        np.maximum.at(width, leading[wrong], leads[wrong].min(axis=1))
        return cls(fitted, width, np.zeros_like(width))

    def trial(
        self, results: Estimates, before: State, label: Always, scales: NDArray[np.float64]
    ) -> tuple[Trial, State]:
        """Return the trial of the test on samples; the state does not change."""
        labels, leads = leads_of(results.values[0])
        lead, scale = leads.min(axis=1), np.zeros(len(labels))
        # The widths fall with the scale.
        widths = width(scales[:, None], self.width, self.floor).astype(np.float32)
        for number, of_class in enumerate(widths.T):
            rows = np.flatnonzero(labels == number)
            first = np.searchsorted(-of_class, -lead[rows], side="right")
            scale[rows] = np.append(scales, 0.0)[first]
        return Trial(scale[None], labels[None], results.operations, None), before

    def finished(self, number: int, scale: float) -> EarlyExit:
        """Return the scores with their half-width at a scale, numbered among their kind."""
        half_width = width(scale, self.width, self.floor)[None].astype(np.float32)
        return fit_of(self.stage).finished(self.stage, Calibrated((), half_width, (1, 0), number))

    def with_floor(self, results: Estimates, before: State, misled: Misled) -> LeadLink:
        """Return the test with bands in which every generated point lies that misleads it."""
        labels, leads = leads_of(results.values[0])
        wrong = misled.counts.any(axis=1) & (labels != class_of(misled.counts))
        lead = leads.min(axis=1).astype(np.float64)
        floor = [
            least_width(lead[wrong & (labels == number)], float(width), misled.scale)
            for number, width in enumerate(self.width)
        ]
        return replace(self, floor=np.array(floor))

    def is_widened(self, scale: float) -> bool:
        """Return whether the floor of a band makes it wider at a scale."""
        return is_widened(scale, self.width, self.floor)
