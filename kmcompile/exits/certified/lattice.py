"""Boxes of inputs that halve from level to level, numbered along a Z-order curve."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, Float64Array, frozen

Keys = NDArray[np.int64]

_MOST_ACROSS = 1 << 13
"""Boxes of the last level along a feature: rounding inflates them by at most 2^-8."""
EXPANDED = 2.0**-8
"""Largest inflation of boxes on which f is expanded."""
_LARGEST_INFLATION = 2.0**-4


@dataclass(frozen=True, slots=True, eq=False)
class Lattice:
    """Box k of a level holds low + width (k, k + 1) 2^-level, k a vector.

    Its key interleaves the bits of k: the 2^n_features parts of box `key` are the boxes
    (key << n_features) + part of the next level, bit j of `part` telling the halves of feature j
    apart.

    Parameters
    ----------
    low : ndarray of shape (n_features,), float64
        float32 numbers.
    high : ndarray of shape (n_features,), float64
        The largest inputs that are looked at.
    width : ndarray of shape (n_features,), float64
        Powers of two.
    last_level : int
    deviation : float
        How far the exact input may lie from the one that is looked up, a Euclidean norm; not 0
        only where features are those of the kernel's space.
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
        """Features of an input."""
        return len(self.low)

    def across(self, level: int) -> NDArray[np.int64]:
        """Return how many boxes of a level reach from low to high along each feature."""
        size = self.width * 2.0**-level
        return np.floor((self.high - self.low) / size).astype(np.int64) + 1

    def inflation(self, level: int) -> float:
        """Return by what part of its half-width an input may lie outside its box.

        The C takes fl(x - low) for x - low, which is less than the width of all the boxes that a
        map begins with and off by u times that at the most. These reach beyond `high` by less than
        one of theirs, which is at most 2 n boxes of this level, n the most along any feature. So it
        is u times 3 n boxes, 6 u n half-widths; 8 covers what float64 rounds.
        """
        moved = self.deviation / self.half_widths(level).min() * (1 + 1e-9)
        return float(8 * 2.0**-24 * self.across(level).max() + moved)

    @property
    def last_expanded(self) -> int:
        """The last level on which f may be expanded."""
        levels = range(self.last_level + 1)
        return max(level for level in levels if level == 0 or self.inflation(level) <= EXPANDED)

    def keys(self, X: Float64Array) -> Keys:
        """Return the boxes of the last level that hold the rows of X, none of them below `low`."""
        place = np.floor((X - self.low) / self.width * 2.0**self.last_level).astype(np.int64)
        return interleaved(place, self.last_level + 2)

    def centres(self, keys: Keys, level: int) -> Float64Array:
        """Return the centres of boxes, shape (n_boxes, n_features)."""
        place = separated(keys, self.n_features, level + 2)
        centres: Float64Array = self.low + (place + 0.5) * (self.width * 2.0**-level)
        return centres

    def half_widths(self, level: int) -> Float64Array:
        """Return half of a box along each feature."""
        half: Float64Array = self.width * 2.0 ** -(level + 1)
        return half


def lattice(
    X: Float64Array, scale: Float64Array, unit: float = 0.0, deviation: float = 0.0
) -> Lattice | None:
    """Return boxes around some inputs, about as long along each feature in the kernel's eyes.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float64
    scale : ndarray of shape (n_features,), float64
        How far a prepared input moves with each feature.
    unit : float
        A power of two of which inputs are multiples, and then `low` and all widths; 0: none is.
    deviation : float
        `Lattice.deviation`.

    Returns
    -------
    Lattice or None
        None where a feature has no effect or float32 has no room for the boxes.
    """
    low = _low(X.min(axis=0), unit)
    high = X.max(axis=0)
    extent = (scale * (high - low)).max()
    if not (scale > 0).all() or not np.isfinite(extent) or extent <= 0:
        return None
    width = 2.0 ** np.ceil(np.log2(extent / scale))
    # Magnitudes at which neither x - low nor its product with a power of two leaves float32's
    # normal numbers; a low that is smaller may be flushed to 0.
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
    """Return where the boxes begin: at multiples of the unit if there is one."""
    if unit:
        return (np.floor(least / unit) * unit).astype(np.float32)
    return np.nextafter(least.astype(np.float32), np.float32(-np.inf))


def interleaved(place: Keys, n_bits: int) -> Keys:
    """Return the keys of rows of places with n_bits bits each."""
    n = place.shape[1]
    keys = np.zeros(len(place), dtype=np.int64)
    for bit in range(n_bits):
        for j in range(n):
            keys |= ((place[:, j] >> bit) & 1) << (bit * n + j)
    return keys


def separated(keys: Keys, n: int, n_bits: int) -> Keys:
    """Return the places of keys, shape (n_keys, n)."""
    place = np.zeros((len(keys), n), dtype=np.int64)
    for bit in range(n_bits):
        for j in range(n):
            place[:, j] |= ((keys >> (bit * n + j)) & 1) << bit
    return place
