"""Boxes of inputs that halve from level to level, numbered along a Z-order curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, Float64Array, frozen

Keys = NDArray[np.int64]

_MOST_ACROSS = 1 << 13
"""Most boxes of the last level along a feature: rounding inflates these by at most 2^-8."""
EXPANDED = 2.0**-8
"""Largest inflation of boxes on which f is expanded."""
_LARGEST_INFLATION = 2.0**-4


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """Boxes of inputs: box k of a level spans low + w k to low + w (k + 1), w = width 2^-level.

    k is a vector of integers, one for each feature. The key of a box interleaves the bits of k. Box
    `key` has 2^n_features parts, which are the boxes (key << n_features) + part of the next level.
    Bit j of `part` tells the lower half of feature j from the upper one.

    Parameters
    ----------
    low : ndarray of shape (n_features,), float64
        The smallest corner of all boxes; exactly float32 numbers.
    high : ndarray of shape (n_features,), float64
        The largest inputs that the boxes cover.
    width : ndarray of shape (n_features,), float64
        Width of a box of level 0 along each feature; powers of two.
    last_level : int
    deviation : float
        Largest Euclidean distance of the exact input from the input that is looked up. It is 0
        unless the lattice is in the kernel's space.
    """

    low: Float64Array
    high: Float64Array
    width: Float64Array
    last_level: int
    deviation: float = 0.0

    def __post_init__(self) -> None:
        for name in ("low", "high", "width"):
            object.__setattr__(self, name, frozen(getattr(self, name)))

    @property
    def n_features(self) -> int:
        """Number of features of an input."""
        return len(self.low)

    def across(self, level: int) -> NDArray[np.int64]:
        """Return the number of boxes of a level from low to high, for each feature."""
        size = self.width * 2.0**-level
        return np.floor((self.high - self.low) / size).astype(np.int64) + 1

    def inflation(self, level: int) -> float:
        """Return by what share of its half-width an input may lie outside its box.

        The C uses fl(x - low) for x - low. This difference is less than the width of all the boxes
        that a map begins with, and is off by at most u times that width. The boxes reach beyond
        `high` by less than one of the first boxes, which is at most 2 n boxes of this level, with n
        the largest number of boxes along a feature. The error is therefore at most u times 3 n
        boxes, or 6 u n half-widths. The factor 8 covers the rounding in float64.
        """
        moved = self.deviation / self.half_widths(level).min() * (1 + 1e-9)
        return float(8 * 2.0**-24 * self.across(level).max() + moved)

    @property
    def last_expanded(self) -> int:
        """The last level on which f may be expanded."""
        levels = range(self.last_level + 1)
        return max(level for level in levels if level == 0 or self.inflation(level) <= EXPANDED)

    def keys(self, X: Float64Array) -> Keys:
        """Return the keys of the last level's boxes that hold the rows of X.

        No row may lie below `low`.
        """
        place = np.floor((X - self.low) / self.width * 2.0**self.last_level).astype(np.int64)
        return interleaved(place, self.last_level + 2)

    def centres(self, keys: Keys, level: int) -> Float64Array:
        """Return the centres of boxes, shape (n_boxes, n_features)."""
        place = separated(keys, self.n_features, level + 2)
        centres: Float64Array = self.low + (place + 0.5) * (self.width * 2.0**-level)
        return centres

    def half_widths(self, level: int) -> Float64Array:
        """Return half the width of a level's boxes, for each feature."""
        half: Float64Array = self.width * 2.0 ** -(level + 1)
        return half


def lattice(
    X: Float64Array, scale: Float64Array, unit: float = 0.0, deviation: float = 0.0
) -> Lattice | None:
    """Return boxes around the inputs, about equally long along each feature for the kernel.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float64
    scale : ndarray of shape (n_features,), float64
        How far a prepared input moves with each feature.
    unit : float
        A power of two of which all inputs are multiples; `low` and all widths are then multiples
        of it, too. 0 if there is no such power.
    deviation : float
        `Lattice.deviation`.

    Returns
    -------
    Lattice or None
        None if a feature has no effect on the kernel, or if float32 cannot represent the boxes.
    """
    low = _low(X.min(axis=0), unit)
    high = X.max(axis=0)
    extent = (scale * (high - low)).max()
    if not (scale > 0).all() or not np.isfinite(extent) or extent <= 0:
        return None
    width = 2.0 ** np.ceil(np.log2(extent / scale))
    # Range of magnitudes in which x - low and its products with powers of two stay float32's
    # normal numbers; a smaller low may be flushed to 0.
    if width.min() < 2.0**-60 or max(width.max(), np.abs(low).max()) > 2.0**60:
        return None
    if not unit:
        low = np.where(np.abs(low) < 2.0**-100, np.float32(-(2.0**-90)), low)
    found = Lattice(low.astype(np.float64), high, width, 0)
    levels = int(np.log2(_MOST_ACROSS / found.across(0).max()))
    least = max(unit, 2 * deviation / _LARGEST_INFLATION)
    if least > 0:
        levels = min(levels, int(np.floor(np.log2(width.min() / least))))
    boxes = Lattice(found.low, high, width, levels, deviation)
    return boxes if levels > 0 and boxes.inflation(0) <= EXPANDED else None


def _low(least: Float64Array, unit: float) -> Float32Array:
    """Return the lower corner of the boxes, a multiple of the unit if there is one."""
    if unit:
        return (np.floor(least / unit) * unit).astype(np.float32)
    return np.nextafter(least.astype(np.float32), np.float32(-np.inf))


def interleaved(place: Keys, n_bits: int) -> Keys:
    """Return the keys of box positions, the rows of `place`, with n_bits bits for each feature."""
    n = place.shape[1]
    keys = np.zeros(len(place), dtype=np.int64)
    for bit in range(n_bits):
        for j in range(n):
            keys |= ((place[:, j] >> bit) & 1) << (bit * n + j)
    return keys


def separated(keys: Keys, n: int, n_bits: int) -> Keys:
    """Return the box positions of keys, shape (n_keys, n)."""
    place = np.zeros((len(keys), n), dtype=np.int64)
    for bit in range(n_bits):
        for j in range(n):
            place[:, j] |= ((keys >> (bit * n + j)) & 1) << bit
    return place
