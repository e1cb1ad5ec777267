"""What calibration does with an early exit of any kind: try it, give it its bands and limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.exits.statistical.bands import LARGEST_SPREAD, LEAST_SPREAD
from kmcompile.exits.statistical.links import Link
from kmcompile.exits.statistical.nearest import nearest_estimates
from kmcompile.exits.statistical.trial import Estimates
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.stages import EarlyExit, ExactSum, LinearFilter, NearestVectors, ReducedSet
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.nearest_vectors import TEST_OPERATIONS
from kmcompile.program.stages.range_gate import sum_of_squares


def estimates_of(stage: EarlyExit, ends: Ends, x: Float32Array) -> Estimates:
    """Return what the tests of a stage see of prepared samples.

    Parameters
    ----------
    stage : EarlyExit
        As it was fitted, by itself.
    x : ndarray of shape (n_samples, n_features), float32
    """
    test = TEST_OPERATIONS * len(ends.exact.intercept) + ends.label.operations()
    none = np.zeros(1, dtype=np.int64)
    if isinstance(stage, NearestVectors):
        assert isinstance(ends.exact, ExactSum)
        return nearest_estimates(stage, ends.exact, x, test)
    if isinstance(stage, LinearFilter):
        spent = stage.products.operations_of(x) + 2 * stage.n_decisions + ends.label.operations()
        return Estimates(stage.estimate(x)[None], ends.weight(stage) * spent[None], none)
    assert isinstance(stage, ReducedSet)
    rows = stage.rows(stage.products.of(x))
    spent = stage.operations_of(x) + ends.label.operations()
    return Estimates(rows[None, :, :-1], ends.weight(stage) * spent[None], none, rows[:, -1])


def finished(made: Link, number: int, scale: float) -> EarlyExit:
    """Return the stage of a link with its bands at a scale, and its number among its kind."""
    stage, bands = made.fitted.stage, made.bands
    half_width = np.stack([band.half_width(scale) for band in bands]).astype(np.float32)
    if isinstance(stage, NearestVectors):
        return replace(
            stage,
            own=np.stack([band.own for band in bands]),
            earlier=np.stack([band.earlier for band in bands]),
            offset=np.stack([-band.constant for band in bands]),
            half_width=half_width,
        )
    band = bands[0]
    if isinstance(stage, LinearFilter):
        intercept = (stage.intercept + band.constant).astype(np.float32)
        return replace(stage, intercept=intercept, half_width=half_width[0])
    assert isinstance(stage, ReducedSet)
    first, second = made.spread
    own = np.append(band.own, second)
    return replace(
        stage,
        number=number,
        weights=stage.weights * own[:, None],
        slopes=stage.slopes * own[:, None],
        intercept=stage.intercept * own + np.append(band.constant, first),
        earlier=band.earlier.astype(np.float32),
        least_spread=np.float32(LEAST_SPREAD),
        largest_spread=np.float32(LARGEST_SPREAD),
        half_width=half_width[0],
    )


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
    if isinstance(stage, ReducedSet) and len(stage.triangle):
        rest = stage.residual(stage.products.of(x), square)
        return replace(stage, least=rest.min(), largest=rest.max())
    return stage
