"""A score before its limit is set: what a monitor will compute, and in which units."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.monitor.reading import most_code, per_unit
from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.program import Program
from kmcompile.program.stages import Monitor
from kmcompile.program.stages.input.monitor import MOST_PART

_INT16 = np.iinfo(np.int16)
_TINY = 1e-100
"""Stands for the largest weight where all are 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Score:
    """Directions, limits of features, or both; the larger of the two counts, each in its unit.

    Parameters
    ----------
    first, step : int
        The features that the directions read, as in `Monitor`.
    weight : ndarray of shape (n_read, n_directions), float32 or int16
    start : ndarray of shape (n_directions,), float32 or int32
    middle, half : ndarray of shape (n_features,) or (0,), float64
        The middle of each feature's range, and half of its width.
    unit : float
        The score along the directions that counts as 1.
    box_unit : float
        How many halves from the middle of its range a feature lies where this counts as 1.
    """

    first: int
    step: int
    weight: np.ndarray
    start: np.ndarray
    middle: Float64Array = field(default_factory=lambda: np.zeros(0))
    half: Float64Array = field(default_factory=lambda: np.zeros(0))
    unit: float = 1.0
    box_unit: float = 1.0

    @property
    def operations(self) -> int:
        """Multiply-adds, as `Monitor.operations` counts them."""
        n_read, n = self.weight.shape
        return int(n * (n_read + 1) + 2 * len(self.half))

    @property
    def parts(self) -> tuple[str, ...]:
        """What the score is made of."""
        parts = (("directions", len(self.start)), ("limits", len(self.half)))
        return tuple(name for name, size in parts if size)

    def quickly(self, values: NDArray[Any]) -> Float64Array:
        """Return the scores in float64, in which sums are rounded in another order than in the C.

        Parameters
        ----------
        values : ndarray of shape (n, n_features), float64
        """
        along = np.zeros(len(values))
        if len(self.start):
            parts = values[:, self.first :: self.step] @ self.weight.astype(np.float64)
            along = ((parts + self.start) ** 2).sum(axis=1)
        return self._larger(along, values)

    def exactly(self, values: NDArray[Any]) -> Float64Array:
        """Return the scores as the C computes them, in float64.

        Parameters
        ----------
        values : ndarray of shape (n, n_features), float32 or int64
        """
        along = np.zeros(len(values))
        in_floats = values.dtype == np.float32
        if len(self.start):
            none = np.zeros(0, dtype=np.float32 if in_floats else np.int16)
            monitor = self._monitor(0.5, in_floats, values.shape[1], 0.0, none, none)
            along = monitor.score(values).astype(np.float64)
        return self._larger(along, values.astype(np.float64))

    def _larger(self, along: Float64Array, values: Float64Array) -> Float64Array:
        score = along / self.unit
        if len(self.half):
            beyond = (np.abs(values - self.middle) / self.half).max(axis=1)
            score = np.maximum(score, beyond / self.box_unit)
        return np.where(np.isnan(score), np.inf, score)

    def monitor(self, program: Program, share: float, limit: float) -> Monitor:
        """Return the monitor that lets through every input whose score is at most `limit`."""
        in_floats = per_unit(program) is None
        width = limit * self.box_unit * self.half
        least, largest = self.middle - width, self.middle + width
        if in_floats:
            ends = _outwards(least, -math.inf), _outwards(largest, math.inf)
        else:
            ends = _codes(np.floor(least)), _codes(np.ceil(largest))
        top = np.nextafter(limit * self.unit, math.inf)
        made = self._monitor(share, in_floats, program.n_features, top, *ends)
        return made if in_floats else _in_codes(made, program)

    def _monitor(
        self,
        share: float,
        in_floats: bool,
        n_features: int,
        top: float,
        least: np.ndarray,
        largest: np.ndarray,
    ) -> Monitor:
        limit = float32_above(top) if in_floats else math.ceil(top)
        unit = None if in_floats else np.float32(1.0)
        return Monitor(
            share,
            n_features,
            self.first,
            self.step,
            self.weight,
            self.start,
            limit,
            least,
            largest,
            unit,
        )


def _in_codes(monitor: Monitor, program: Program) -> Monitor:
    """Return the monitor with the scale of a program's codes."""
    return replace(monitor, per_unit=per_unit(program), most_code=most_code(program))


def float32_above(number: float) -> np.float32:
    """Return the least float32 that is not below a number; the largest one if none is."""
    largest = np.finfo(np.float32).max
    nearest = np.float32(min(number, float(largest)))
    up = np.nextafter(nearest, largest) if float(nearest) < number else nearest
    return np.float32(up)


def _outwards(ends: Float64Array, to: float) -> np.ndarray:
    largest = np.finfo(np.float32).max
    rounded = np.nextafter(np.clip(ends, -largest, largest).astype(np.float32), np.float32(to))
    return np.clip(rounded, -largest, largest)


def _codes(ends: Float64Array) -> np.ndarray:
    return np.clip(ends, _INT16.min, _INT16.max).astype(np.int16)


def rounded(weight: Float64Array, centre: Float64Array, program: Program) -> tuple[Any, Any]:
    """Return weights and starts in the program's numbers.

    In an integer format all weights are multiplied by one factor, the largest for which no sum
    along a direction can overflow.

    Parameters
    ----------
    weight : ndarray of shape (n_read, n_directions)
    centre : ndarray of shape (n_read,)
        The samples' mean.
    """
    if per_unit(program) is None:
        return weight.astype(np.float32), -(centre @ weight).astype(np.float32)
    sums = np.abs(weight).sum(axis=0)
    # Half of the room is the start's; a hundredth is left for the rounding of weights.
    room = 0.49 * MOST_PART - most_code(program) * len(weight)
    factor = room / (most_code(program) * max(sums.max(initial=0.0), _TINY))
    factor = min(factor, _INT16.max / max(np.abs(weight).max(initial=0.0), _TINY))
    whole = np.rint(weight * factor)
    return whole.astype(np.int16), np.rint(-(centre @ whole)).astype(np.int32)
