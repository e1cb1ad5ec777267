"""Inputs from another world, made from samples: noise, shifts, stuck and swapped channels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from kmcompile.numeric.arrays import Float32Array, Float64Array

_FARTHEST_NEAR = 8
"""Largest number of positions of a short shift; half of the shifts are short."""
_LEAST_SIDE = 7
"""Least side of inputs that may be square images."""
_FARTHEST_MOVE = 0.6
"""Longest move of an image, over its side."""
_FACTORS = (0.5, 2.0)
_ENLARGED = 8.0


@dataclass(frozen=True, slots=True, eq=False)
class World:
    """What the samples say of their features: the least and largest value of each."""

    least: Float64Array
    largest: Float64Array

    @classmethod
    def of(cls, X: Float32Array) -> World:
        """Return what samples say, shape (n_samples, n_features)."""
        rows = X.astype(np.float64)
        return cls(rows.min(axis=0), rows.max(axis=0))


def _noise(x: Float64Array, world: World, rng: np.random.Generator) -> Float64Array:
    return rng.uniform(world.least, world.largest, size=x.shape)


def _inverted(x: Float64Array, world: World, rng: np.random.Generator) -> Float64Array:
    return world.least + world.largest - x


def _shifted(x: Float64Array, world: World, rng: np.random.Generator) -> Float64Array:
    n, d = x.shape
    near = rng.integers(1, min(_FARTHEST_NEAR, max(d - 1, 1)) + 1, size=n)
    far = rng.integers(1, max(d, 2), size=n)
    by = np.where(rng.random(n) < 0.5, near, far)
    place = (np.arange(d) - by[:, None]) % d
    return np.take_along_axis(x, place, axis=1)


def _moved(x: Float64Array, world: World, rng: np.random.Generator) -> Float64Array:
    """Return square images moved to one of four sides; other inputs as they are."""
    n, d = x.shape
    side = math.isqrt(d)
    if side * side != d or side < _LEAST_SIDE:
        return x
    images, made = x.reshape(n, side, side), np.empty((n, side, side))
    made[:] = world.least.reshape(side, side)
    farthest = max(2, round(_FARTHEST_MOVE * side))
    moves = [int(by) for by in rng.integers(1, farthest + 1, size=(n,))]
    sides = [int(to) for to in rng.integers(0, 4, size=(n,))]
    for row, (by, to) in enumerate(zip(moves, sides, strict=True)):
        np.rot90(made[row], to)[by:] = np.rot90(images[row], to)[:-by]  # a view of `made`
    return made.reshape(n, d)


def _mixed(x: Float64Array, world: World, rng: np.random.Generator) -> Float64Array:
    return (x + x[rng.permutation(len(x))]) / 2


def _joined(x: Float64Array, world: World, rng: np.random.Generator) -> Float64Array:
    n, d = x.shape
    ends = rng.integers(1, max(d, 2), size=n)
    made: Float64Array = np.where(np.arange(d) < ends[:, None], x, x[rng.permutation(n)])
    return made


def _enlarged(x: Float64Array, world: World, rng: np.random.Generator) -> Float64Array:
    return x * _ENLARGED


def _stuck(x: Float64Array, world: World, rng: np.random.Generator) -> Float64Array:
    rows, j = _channels(x, rng)
    return _with(x, rows, j, x[rng.permutation(len(x)), j])


def _saturated(x: Float64Array, world: World, rng: np.random.Generator) -> Float64Array:
    rows, j = _channels(x, rng)
    ends = np.where(rng.random(len(x)) < 0.5, world.least[j], world.largest[j])
    return _with(x, rows, j, ends)


def _scaled(x: Float64Array, world: World, rng: np.random.Generator) -> Float64Array:
    rows, j = _channels(x, rng)
    return _with(x, rows, j, x[rows, j] * rng.choice(_FACTORS, size=len(x)))


def _swapped(x: Float64Array, world: World, rng: np.random.Generator) -> Float64Array:
    rows, j = _channels(x, rng)
    other = (j + rng.integers(1, max(x.shape[1], 2), size=len(x))) % x.shape[1]
    made = _with(x, rows, j, x[rows, other])
    return _with(made, rows, other, x[rows, j])


def _channels(x: Float64Array, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    return np.arange(len(x)), rng.integers(0, x.shape[1], size=len(x))


def _with(x: Float64Array, rows: np.ndarray, j: np.ndarray, values: Float64Array) -> Float64Array:
    made = x.copy()
    made[rows, j] = values
    return made


_Make = Callable[[Float64Array, World, np.random.Generator], Float64Array]

OF_ALL: Mapping[str, _Make] = MappingProxyType(
    {
        "noise": _noise,
        "inverted": _inverted,
        "shifted": _shifted,
        "moved": _moved,
        "mixed": _mixed,
        "joined": _joined,
        "enlarged": _enlarged,
    }
)
"""Changes of all features: noise within the range of each, the range inverted, values shifted by
some positions, a square image moved, the mean of two samples, parts of two samples, all features
eight times as large."""

OF_ONE: Mapping[str, _Make] = MappingProxyType(
    {"stuck": _stuck, "saturated": _saturated, "scaled": _scaled, "swapped": _swapped}
)
"""Changes of one channel, or of two: it has another sample's value, an end of its range, half or
twice its value, or that of another channel."""

KINDS = (*OF_ALL, *OF_ONE)


def anomalies(X: Float32Array, world: World, seed: int) -> dict[str, Float32Array]:
    """Return inputs of each kind made from samples, without those that equal their sample.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32
    world : World
    seed : int
    """
    made = {}
    for number, (kind, make) in enumerate({**OF_ALL, **OF_ONE}.items()):
        rng = np.random.default_rng([seed, number])
        rows = make(X.astype(np.float64), world, rng).astype(np.float32)
        made[kind] = rows[(rows != X).any(axis=1)]
    return made
