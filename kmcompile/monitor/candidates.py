"""The scores that a monitor is chosen from, each fitted to samples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from kmcompile.monitor.anomalies import KINDS, OF_ALL, OF_ONE
from kmcompile.monitor.directions import directions
from kmcompile.monitor.score import Score, rounded
from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.program import Program
from kmcompile.program.stages.input.monitor import MOST_DIRECTIONS

_STEPS = (1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233)
LEAST_A_FEATURE = 6
"""Operations a feature that a monitor may always take, however cheap the program is."""

_LEAST_READ = 8
"""Fewest features that a direction reads, where there are as many."""
_MOST_READ = 1024
_NUMBERS = (1, 2, 3, 4, 6, MOST_DIRECTIONS)
"""Numbers of directions."""

_KINDS = (KINDS, tuple(OF_ALL), tuple(OF_ONE))
"""Kinds of strange inputs that directions are fitted to."""
_SCALES = ((False, 0.1), (True, 0.1), (True, 1e-3), (True, 1e-5))
"""Whether features are divided by their deviations first, and the ridge of the fit."""
_WIDE = 256
"""Features read above which only the first two are tried: a fit takes the time of its cube."""
_CONSTANT = 1e-3
"""What stands for the deviation of a constant feature, as a share of its value."""


@dataclass(frozen=True, slots=True, eq=False)
class FitSamples:
    """What scores are fitted to, as the monitor reads it, in float64.

    Parameters
    ----------
    usual : ndarray of shape (n, n_features)
    strange : mapping of kind to ndarray of shape (n_kind, n_features)
    """

    usual: Float64Array
    strange: Mapping[str, Float64Array]


def candidates(program: Program, fit: FitSamples, share: float, most: float) -> Iterator[Score]:
    """Yield the scores of at most `most` operations, or of six a feature."""
    box = limits_of(fit.usual, program)
    n = program.n_features
    reads = {step: len(range((step - 1) // 2, n, step)) for step in _STEPS}
    steps = [step for step, n_read in reads.items() if min(n, _LEAST_READ) <= n_read <= _MOST_READ]
    most = max(most, LEAST_A_FEATURE * n)
    yield box
    for step in steps:
        number = min(MOST_DIRECTIONS, reads[step], int(most // (reads[step] + 1)))
        if number == 0:
            continue
        for score in _of_step(program, fit, share, step, number):
            yield score
            if score.operations + box.operations <= most:
                yield replace(score, middle=box.middle, half=box.half)


def limits_of(usual: Float64Array, program: Program) -> Score:
    """Return the score of the features' limits alone."""
    least, largest = usual.min(axis=0), usual.max(axis=0)
    middle, half = (least + largest) / 2, (largest - least) / 2
    half = np.where(half > 0, half, _of_constants(middle, half))
    in_floats = program.codes is None
    if not in_floats:
        half = np.maximum(half, 0.5)
    weight = np.zeros((0, 0), dtype=np.float32 if in_floats else np.int16)
    start = np.zeros(0, dtype=np.float32 if in_floats else np.int32)
    return Score(0, 1, weight, start, middle, half)


def _of_step(
    program: Program, fit: FitSamples, share: float, step: int, number: int
) -> Iterator[Score]:
    first = (step - 1) // 2
    read = fit.usual[:, first::step]
    centre, deviation = read.mean(axis=0), read.std(axis=0)
    for scaled, ridge in _SCALES if len(centre) <= _WIDE else _SCALES[:2]:
        scale = np.full(len(centre), np.sqrt(max((deviation**2).mean(), np.finfo(float).tiny)))
        if scaled:
            scale = np.where(deviation > 0, deviation, _of_constants(centre, deviation))
        usual = (read - centre) / scale
        for kinds in _KINDS:
            strange = [(fit.strange[kind][:, first::step] - centre) / scale for kind in kinds]
            strange = [rows[np.isfinite(rows).all(axis=1)] for rows in strange if len(rows)]
            if not strange:
                continue
            found = directions(usual, strange, ridge, share, number)
            for n in _NUMBERS:
                if n <= found.shape[1]:
                    weight, start = rounded(found[:, :n] / scale[:, None], centre, program)
                    yield Score(first, step, weight, start)


def _of_constants(value: Float64Array, deviation: Float64Array) -> Float64Array:
    """Return what stands for the deviations of constant features."""
    others = deviation[deviation > 0]
    usual = float(np.median(others)) if len(others) else 1.0
    small: Float64Array = np.where(value != 0, _CONSTANT * np.abs(value), usual)
    return small
