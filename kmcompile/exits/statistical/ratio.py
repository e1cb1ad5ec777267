"""Fit the test of a proved interval's ratio (DeCoste 2001, section 5), which has one number."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kmcompile.exits.statistical.statistical_fit import (
    Calibrated,
    FitSamples,
    Job,
    StatisticalFit,
)
from kmcompile.exits.statistical.trial import Estimates
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages import IntervalRatio
from kmcompile.program.stages.ends import Ends


def undecided(n_decisions: int) -> IntervalRatio:
    """Return the test that decides nothing yet."""
    return IntervalRatio(n_decisions, np.float32(1.0))


def share_of(log_ratio: float | Float32Array | Float64Array) -> Float32Array:
    """Return q = (r - 1) / (r + 1) = tanh(log(r) / 2) in float32, for log(r).

    Examples
    --------
    >>> round(float(share_of(math.log(4.0))), 6)
    0.6
    """
    share: Float32Array = np.tanh(np.asarray(log_ratio, np.float64) / 2).astype(np.float32)
    return share


class IntervalRatioFit(StatisticalFit[IntervalRatio]):
    """The kind `interval_ratio`: the band of log(r) is calibrated, r the ratio of the two sides.

    At a scale of 1 and without a sample that flips beyond it, r is the paper's 4; at a scale s it
    is 4^s.
    """

    kind = IntervalRatio
    reads_intervals = True

    def jobs(self, samples: FitSamples, required: bool = False) -> Iterator[Job]:
        """Yield the job of the one test."""
        yield undecided, (samples.decisions.shape[1],), "interval_ratio"

    def estimates(self, stage: IntervalRatio, ends: Ends, x: Float32Array) -> Estimates:
        """Return the middle of an interval of which nothing is known, 0, and the test's cost."""
        spent = ends.weight(stage) * (stage.operations() + ends.label.operations())
        return Estimates(
            np.zeros((1, len(x), stage.n_decisions), dtype=np.float32),
            np.full((1, len(x)), spent, dtype=np.int64),
            np.zeros(1, dtype=np.int64),
        )

    def reach(self, stage: IntervalRatio, test: int) -> float:
        """Return log(4), the paper's rule."""
        return math.log(4.0)

    def finished(self, stage: IntervalRatio, calibrated: Calibrated) -> IntervalRatio:
        """Return the test with its ratio, whose log is the half-width of the band."""
        return replace(stage, share=share_of(calibrated.half_width)[0, 0])
