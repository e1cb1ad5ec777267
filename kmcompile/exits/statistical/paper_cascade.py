"""The cascade of the NSV paper, unchanged: linear filter, nearest vectors, exact sum."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Literal

import numpy as np

from kmcompile.exits.statistical.calibration import Calibration
from kmcompile.exits.statistical.cascade import prepared, skips_zeros
from kmcompile.exits.statistical.chooser import added_operations
from kmcompile.exits.statistical.exits import estimates_of
from kmcompile.exits.statistical.linear import linear_filter
from kmcompile.exits.statistical.nearest import nearest_vectors
from kmcompile.exits.statistical.paper import (
    band_of,
    filter_thresholds,
    max_smoothed,
    simple_thresholds,
)
from kmcompile.exits.statistical.risk import promise_nothing
from kmcompile.exits.statistical.samples import CalibrationSamples
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.interpreter import classify
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, LinearFilter, NearestVectors, Nonzeros, Stage
from kmcompile.program.stages.ends import Ends

DIMENSIONS = 20
"""Dimensions of the projection: PCA(20) in NSV, section 4.3."""

_ROWS = 1024


def add_paper_cascade(
    program: Program,
    samples: CalibrationSamples,
    thresholds: Literal["simple", "maxsmoothed"],
    room_operations: float,
    tell: Callable[[str], None],
) -> tuple[Program, Calibration]:
    """Return the program with the paper's early exits, fitted to all samples.

    The number of steps is limited by `room_operations` in the worst case; at this limit nearly all
    vectors have been touched. There is no range gate, because the paper has none.

    Parameters
    ----------
    program : Program
        The exact program of a binary machine.
    samples : CalibrationSamples
    thresholds : {"simple", "maxsmoothed"}
    room_operations : float
        Multiply-adds that early exits may add to the exact sum in the worst case.
    tell : callable
        Called with a few words as each step begins.
    """
    ends = program.ends
    x = prepared(program, samples.X)
    f = samples.decisions[:, 0]
    skip_zeros = skips_zeros(program)
    tell("training the linear filter")
    first = _filter(x, samples.decisions, ends, skip_zeros)
    tell("collecting the paper's thresholds")
    stages: list[LinearFilter | NearestVectors] = [first]
    notes: list[str] = []
    left = room_operations - added_operations([first], ends)
    second = _nearest(x, f, ends, thresholds, left, skip_zeros)
    if second is None:
        notes.append(
            "nearest_vectors is left out: its ordering alone costs over a tenth of the sum"
        )
    else:
        stages.append(second)
    exits = (*program.exits, *_squares(program, second), *stages)
    calibrated = replace(program, mode="statistical", exits=exits)
    tell("counting disagreements")
    results, _ = classify(calibrated, samples.X)
    count = int((results["label"] != samples.labels).sum())
    notes.append("the paper's thresholds promise nothing: they are extremes of these samples")
    return calibrated, Calibration(
        promise=promise_nothing(len(samples), count, 1.0),
        thresholds=thresholds,
        n_shape=len(samples),
        n_choice=0,
        n_control=0,
        n_support_vectors_found=int(samples.is_vector.sum()),
        candidates=(),
        notes=tuple(notes),
    )


def _squares(program: Program, second: NearestVectors | None) -> tuple[Stage, ...]:
    """Return a stage that sums the squares which distances need, if the program has none."""
    made = frozenset[str]().union(*(stage.makes() for stage in program.stages))
    if second is None or second.needs() <= made:
        return ()
    return (Nonzeros(program.prepare.n_out),)


def _filter(x: Float32Array, decisions: Float64Array, ends: Ends, skip_zeros: bool) -> LinearFilter:
    everything = np.ones_like(decisions, dtype=bool)
    stage = linear_filter(x, decisions, everything, skip_zeros)
    low, high = filter_thresholds(stage.estimate(x)[:, 0], decisions[:, 0])
    middle, half_width = band_of(np.array([low]), np.array([high]))
    return replace(stage, intercept=stage.intercept - middle, half_width=half_width)


def _nearest(
    x: Float32Array,
    f: Float64Array,
    ends: Ends,
    thresholds: Literal["simple", "maxsmoothed"],
    room_operations: float,
    skip_zeros: bool,
) -> NearestVectors | None:
    exact = ends.exact
    assert isinstance(exact, ExactSum)
    dimensions = min(DIMENSIONS, exact.n_features)
    n_steps = exact.n_vectors
    while True:
        steps = np.arange(1, n_steps + 1)
        stage = nearest_vectors(exact, (dimensions,), steps, skip_zeros, np.inf, paper=True)
        extra = added_operations([stage], ends)
        if extra <= room_operations:
            break
        per_step = (extra - stage.operations()) / n_steps
        n_steps = min(n_steps - 1, int((room_operations - (extra - n_steps * per_step)) / per_step))
        if n_steps < 1:
            return None
    low, high = np.zeros(n_steps), np.zeros(n_steps)
    for start in range(0, len(x), _ROWS):
        part = slice(start, start + _ROWS)
        values = estimates_of(stage, ends, x[part]).values[:, :, 0]
        part_low, part_high = simple_thresholds(values, f[part])
        low, high = np.minimum(low, part_low), np.maximum(high, part_high)
    if thresholds == "maxsmoothed":
        low, high = max_smoothed(low, high)
    offset, half_width = band_of(low, high)
    return replace(stage, offset=offset[:, None], half_width=half_width[:, None])
