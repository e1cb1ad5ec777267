"""Fit a ball: its centre is the mean of one class, its decisions come from least squares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from kit.additions.ball import Ball
from kmcompile.exits.statistical.statistical_fit import (
    Calibrated,
    FitSamples,
    Job,
    StatisticalFit,
)
from kmcompile.exits.statistical.trial import Estimates
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages.ends import Ends

_CLIP = 1.5
"""|f| is clipped to this value: larger decisions are equally clear."""


def ball(x: Float32Array, decisions: Float64Array) -> Ball:
    """Return a ball with bands that decide nothing yet."""
    centre = x[decisions[:, 0] > 0].mean(axis=0)
    square = ((x.astype(np.float64) - centre) ** 2).sum(axis=1)
    near = np.abs(decisions).min(axis=1) < _CLIP
    features = np.column_stack([square, np.ones(len(x))])
    slope, intercept = np.linalg.lstsq(features[near], decisions[near], rcond=None)[0]
    return Ball(centre, slope, intercept, np.full(decisions.shape[1], np.inf, np.float32))


class BallFit(StatisticalFit[Ball]):
    """The kind `ball`: one ball for each program."""

    kind = Ball

    def jobs(self, samples: FitSamples, required: bool = False) -> Iterator[Job]:
        """Yield the job that fits the ball."""
        yield ball, (samples.x, samples.decisions), "ball"

    def estimates(self, stage: Ball, ends: Ends, x: Float32Array) -> Estimates:
        """Return the ball's decision values, which are its single test."""
        spent = np.full((1, len(x)), stage.weighted_operations(ends), dtype=np.int64)
        return Estimates(stage.estimate(x)[None], spent, np.zeros(1, dtype=np.int64))

    def reach(self, stage: Ball, test: int) -> float:
        """Return 2: the band reaches two standard deviations."""
        return 2.0

    def finished(self, stage: Ball, calibrated: Calibrated) -> Ball:
        """Return the ball with the middle of its band moved into the intercept."""
        intercept = (stage.intercept + calibrated.bands[0].constant).astype(np.float32)
        return replace(stage, intercept=intercept, half_width=calibrated.half_width[0])
