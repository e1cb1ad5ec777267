"""How likely an input lies in a box, from samples."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.exits.certified.lattice import Keys, Lattice
from kmcompile.numeric.arrays import Float32Array, Float64Array

_N_POINTS = 1 << 20
_UNIFORM = 1 / 8
"""Of the other points, how many more lie anywhere in the box: samples made from support vectors
leave out much of what comes (skin: 92 % of the test samples decided with 1/64, 99 % with 1/8), and
samples of what comes lose little (checkerboard: 96.9 % and 96.4 %)."""
_BANDWIDTH = 0.25
"""Of Scott's rule, which is for one normal distribution: data have several bumps."""
_SEED = 20010507


@dataclass(frozen=True, slots=True, eq=False)
class Density:
    """Points drawn from a kernel density estimate, by the boxes of the last level.

    Parameters
    ----------
    lattice : Lattice
    keys : ndarray of shape (n_points,), int64
        Sorted.
    """

    lattice: Lattice
    keys: Keys

    def occupied(self, level: int) -> Keys:
        """Return the boxes of a level with any point, sorted."""
        occupied: Keys = np.unique(self.keys >> self._shift(level))
        return occupied

    def of(self, boxes: Keys, level: int) -> Float64Array:
        """Return the share of the points in each box of a level."""
        shift = self._shift(level)
        ends = (np.searchsorted(self.keys, (boxes + more) << shift) for more in (0, 1))
        first, end = ends
        share: Float64Array = (end - first) / len(self.keys)
        return share

    def _shift(self, level: int) -> int:
        return self.lattice.n_features * (self.lattice.last_level - level)


def spread_points(samples: Float32Array) -> Float64Array:
    """Return points around the samples, normally distributed, the same for the same samples.

    Samples far outside the others' range, which would make every box large, are left out.
    """
    rng = np.random.default_rng(_SEED)
    X = samples.astype(np.float64)
    first, last = np.quantile(X, (0.01, 0.99), axis=0)
    beyond = last - first
    X = X[((first - beyond <= X) & (last + beyond >= X)).all(axis=1)]
    n, n_features = X.shape
    deviation = _BANDWIDTH * X.std(axis=0) * n ** (-1 / (n_features + 4))
    points = np.resize(X, (max(n, _N_POINTS), n_features))
    spread: Float64Array = points + rng.standard_normal(points.shape) * deviation
    return spread


def density(lattice: Lattice, points: Float64Array) -> Density:
    """Return the density of some points and of a few more anywhere among them."""
    rng = np.random.default_rng(_SEED)
    n = int(_UNIFORM * len(points))
    anywhere = rng.uniform(lattice.low, lattice.high, size=(n, lattice.n_features))
    keys = np.concatenate([lattice.keys(points), lattice.keys(anywhere)])
    return Density(lattice, np.sort(keys))
