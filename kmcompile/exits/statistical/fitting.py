"""Fit the early exits that the chooser compares."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.fits import statistical_fits
from kmcompile.exits.statistical.jobs import each
from kmcompile.exits.statistical.statistical_fit import FitSamples
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages import EarlyExit
from kmcompile.program.stages.ends import Ends


def fit_stages(
    ends: Ends,
    x: Float32Array,
    decisions: Float64Array,
    relevant: NDArray[np.bool_],
    skip_zeros: bool,
    n_jobs: int | None,
    fits: Callable[[EarlyExit], bool],
) -> list[tuple[EarlyExit, str]]:
    """Return fitted early exits, each with a description; their bands decide nothing yet.

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features), float32
        Prepared samples of the shape part.
    decisions : ndarray of shape (n_samples, n_decisions), float64
    relevant : ndarray of shape (n_samples, n_decisions), bool
        For each decision, the samples of its pair's two classes.
    skip_zeros : bool
    n_jobs : int or None
        Number of joblib jobs; it does not change the stages.
    fits : callable
        Function that returns whether there is room for a stage.
    """
    samples = FitSamples(ends, x, decisions, relevant, skip_zeros, n_jobs)
    jobs = [job for fit in statistical_fits() for job in fit.jobs(samples)]
    stages = each([(fit, arguments) for fit, arguments, _ in jobs], n_jobs)
    named = zip(stages, (text for _, _, text in jobs), strict=True)
    return [(stage, text) for stage, text in named if stage is not None and fits(stage)]
