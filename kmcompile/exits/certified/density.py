"""Estimate from samples how likely an input lies in a box."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from kmcompile.exits.certified.lattice import Keys, Lattice
from kmcompile.numeric.arrays import Float32Array, Float64Array

_N_POINTS = 1 << 20
_UNIFORM = 1 / 8
"""Points added anywhere in the box, as a share of the other points. Samples made from support
vectors leave out much of the real input (skin: 92 % of the test samples decided with 1/64, 99 %
with 1/8), and real samples lose little by the added points (checkerboard: 96.9 % and 96.4 %)."""
_BANDWIDTH = 0.25
"""Factor on the bandwidth of Scott's rule, which assumes one normal distribution: data have several
modes."""
_SEED = 20010507


@dataclass(frozen=True, slots=True, eq=False)
class Density:
    """Points drawn from a kernel density estimate, stored as the boxes that contain them.

    Parameters
    ----------
    lattice : Lattice
    keys : ndarray of shape (n_points,), int64
        Keys of the points' boxes on the last level, sorted.
    """

    lattice: Lattice
    keys: Keys

    def occupied(self, level: int) -> Keys:
        """Return the keys of the boxes of a level that contain a point, sorted."""
        occupied: Keys = np.unique(self.keys >> self._shift(level))
        return occupied

    def of(self, boxes: Keys, level: int) -> Float64Array:
        """Return for each box of a level the share of all points that it contains."""
        shift = self._shift(level)
        ends = (np.searchsorted(self.keys, (boxes + more) << shift) for more in (0, 1))
        first, end = ends
        share: Float64Array = (end - first) / len(self.keys)
        return share

    def _shift(self, level: int) -> int:
        return self.lattice.n_features * (self.lattice.last_level - level)


def spread_points(samples: Float32Array) -> Float64Array:
    """Return normally distributed points around the samples; equal samples give equal points.

    Outliers, which would make every box large, are left out.
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
    """Return the density of the points, with a few more points spread evenly over their range."""
    rng = np.random.default_rng(_SEED)
    n = int(_UNIFORM * len(points))
    anywhere = rng.uniform(lattice.low, lattice.high, size=(n, lattice.n_features))
    keys = np.concatenate([lattice.keys(points), lattice.keys(anywhere)])
    return Density(lattice, np.sort(keys))
