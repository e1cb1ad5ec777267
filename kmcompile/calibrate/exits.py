"""What calibration does with an early exit of any kind: try it, give it its bands and limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kmcompile.calibrate.bands import Bands
from kmcompile.calibrate.nearest import nearest_estimates
from kmcompile.calibrate.trial import Estimates
from kmcompile.ir.arrays import Float32Array
from kmcompile.ir.ends import Ends
from kmcompile.stages import EarlyExit, ExactSum, LinearFilter, NearestVectors, ReducedSet
from kmcompile.stages.range_gate import sum_of_squares


def estimates_of(stage: EarlyExit, ends: Ends, x: Float32Array) -> Estimates:
    """Return what the tests of a stage see of prepared samples.

    Parameters
    ----------
    stage : EarlyExit
        With bands that are centred on 0.
    x : ndarray of shape (n_samples, n_features), float32
    """
    n_decisions = len(ends.exact.intercept)
    test = 2 * n_decisions + ends.label.operations()
    if isinstance(stage, NearestVectors):
        assert isinstance(ends.exact, ExactSum)
        return nearest_estimates(stage, ends.exact, x, test)
    if isinstance(stage, LinearFilter):
        values = stage.estimate(x)
        spent = stage.products.operations_of(x) + test
    else:
        assert isinstance(stage, ReducedSet)
        values = stage.estimate(stage.products.of(x))
        spent = stage.operations_of(x) + ends.label.operations()
    return Estimates(values[None], spent[None], np.zeros(1, dtype=np.int64))


def with_bands(stage: EarlyExit, bands: Sequence[Bands], scale: float) -> EarlyExit:
    """Return the stage with the bands of its tests at a scale."""
    limits = [band.limits(scale) for band in bands]
    offset = np.stack([middle for middle, _ in limits]).astype(np.float32)
    half_width = np.stack([half for _, half in limits]).astype(np.float32)
    if isinstance(stage, NearestVectors):
        return replace(stage, offset=offset, half_width=half_width)
    assert isinstance(stage, LinearFilter | ReducedSet)
    return replace(stage, intercept=stage.intercept - offset[0], half_width=half_width[0])


def with_limits(stage: EarlyExit, x: Float32Array) -> EarlyExit:
    """Return the stage with the range of what prepared samples have outside its projections."""
    square = sum_of_squares(x)
    if isinstance(stage, NearestVectors):
        rests = []
        rest = square
        for level in stage.levels:
            for column in level.of(x).T:
                rest = rest - column * column
            rests.append(rest)
        return replace(
            stage,
            least=np.array([rest.min() for rest in rests]),
            largest=np.array([rest.max() for rest in rests]),
        )
    if isinstance(stage, ReducedSet):
        rest = stage.residual(stage.products.of(x), square)
        return replace(stage, least=rest.min(), largest=rest.max())
    return stage
