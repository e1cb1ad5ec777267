"""Fit the linear filter: a linear machine trained on the kernel machine's labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.statistical_fit import (
    Calibrated,
    FitSamples,
    Job,
    StatisticalFit,
)
from kmcompile.exits.statistical.trial import Estimates
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.stages import InnerProducts, LinearFilter
from kmcompile.program.stages.ends import Ends

_SEED = 20030821
_TOLERANCE = 1e-3


def linear_filter(
    x: Float32Array,
    decisions: Float64Array,
    relevant: NDArray[np.bool_],
    skip_zeros: bool,
) -> LinearFilter:
    """Return the linear filter with a band that decides nothing yet (NSV, section 5.1).

    Parameters
    ----------
    x : ndarray of shape (n_samples, n_features), float32
        Prepared samples of the shape part.
    decisions : ndarray of shape (n_samples, n_decisions), float64
    relevant : ndarray of shape (n_samples, n_decisions), bool
        For each decision, the samples of its pair's two classes.
    """
    from sklearn.svm import LinearSVC  # takes half a second, and few programs need it

    n = decisions.shape[1]
    weights, intercept = np.zeros((n, x.shape[1])), np.zeros(n)
    scale = float(np.sqrt((x.astype(np.float64) ** 2).sum(axis=1).mean())) or 1.0
    for p in range(n):
        rows = relevant[:, p]
        sides = decisions[rows, p] > 0
        if sides.all() or not sides.any():
            intercept[p] = 1.0 if sides.all() else -1.0
            continue
        trained = LinearSVC(dual=False, tol=_TOLERANCE, random_state=_SEED, max_iter=200)
        trained.fit(x[rows].astype(np.float64) / scale, sides)
        value = trained.decision_function(x[rows].astype(np.float64) / scale)
        # In the units of the machine's decisions, with which the filter's values are compared.
        unit = np.abs(decisions[rows, p]).mean() / (np.abs(value).mean() or 1.0)
        weights[p], intercept[p] = unit * trained.coef_[0] / scale, unit * trained.intercept_[0]
    products = InnerProducts.of_rows(weights, skip_zeros)
    return LinearFilter(products, intercept.astype(np.float32), np.full(n, np.inf, np.float32))


class LinearFilterFit(StatisticalFit[LinearFilter]):
    """The kind `linear_filter`: one linear machine, trained on all samples."""

    kind = LinearFilter

    def jobs(self, samples: FitSamples, required: bool = False) -> Iterator[Job]:
        """Yield the job of the one linear filter."""
        given = (samples.x, samples.decisions, samples.relevant, samples.skip_zeros)
        yield linear_filter, given, "linear_filter"

    def estimates(self, stage: LinearFilter, ends: Ends, x: Float32Array) -> Estimates:
        """Return the filter's values, which are its single test."""
        spent = stage.operations_of(x) + ends.label.operations()
        none = np.zeros(1, dtype=np.int64)
        return Estimates(stage.estimate(x)[None], ends.weight(stage) * spent[None], none)

    def reach(self, stage: LinearFilter, test: int) -> float:
        """Return 2.7, found on the MNIST pairs: the error of a cheap estimate has long tails."""
        return 2.7

    def finished(self, stage: LinearFilter, calibrated: Calibrated) -> LinearFilter:
        """Return the filter with the middle of its band moved into the intercept."""
        intercept = (stage.intercept + calibrated.bands[0].constant).astype(np.float32)
        return replace(stage, intercept=intercept, half_width=calibrated.half_width[0])
