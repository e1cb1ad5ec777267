"""The paper's bounds: extrema of g over all places that Q can have (2001, eq. 33-53)."""

from __future__ import annotations

from itertools import product

import numpy as np

from bound_search.embedding import Embedding, embed
from bound_search.points import DistanceForm, Pair, squared_distances
from kmcompile.numeric.arrays import Float64Array

Interval = tuple[Float64Array, Float64Array]
"""lower, upper : ndarray of shape (n_queries,), float64."""


def extrema(at: Embedding, to_p: Float64Array, to_n: Float64Array) -> Interval:
    """Return g_L and g_H.

    Parameters
    ----------
    at : Embedding
    to_p, to_n : ndarray of shape (n_queries,), float64
        d_Qp^2 and d_Qn^2.
    """
    Q_x = (to_p - to_n + at.n_x**2) / (2 * at.n_x) if at.n_x > 0 else np.zeros_like(to_p)  # (37)
    radius2 = np.maximum(to_p - Q_x**2, 0.0)  # (39)
    apart, depth = at.N_y - at.P_y, at.N_z
    across = apart**2 + depth**2
    # (52); where P and N coincide seen along the x-axis, g is the same anywhere.
    Q_y = np.sqrt(apart**2 / across * radius2) if across > 0 else np.zeros_like(to_p)
    Q_z = np.sqrt(np.maximum(radius2 - Q_y**2, 0.0))  # (53)
    g = np.array([_g(at, Q_x, y * Q_y, z * Q_z) for y, z in product((-1, 1), repeat=2)])
    return g.min(axis=0), g.max(axis=0)


def _g(at: Embedding, Q_x: Float64Array, Q_y: Float64Array, Q_z: Float64Array) -> Float64Array:
    """Return d_QN^2 - d_QP^2 at Q_w = 0 (eq. 40-43)."""
    to_N = (Q_x - at.N_x) ** 2 + (Q_y - at.N_y) ** 2 + (Q_z - at.N_z) ** 2
    to_P = (Q_x - at.P_x) ** 2 + (Q_y - at.P_y) ** 2 + Q_z**2
    g: Float64Array = to_N - to_P
    return g


def extrema_bounds(form: DistanceForm, pair: Pair, X: Float64Array) -> Interval:
    """Return the paper's bounds on f (eq. 23), from d_QP^ and d_QN^ alone."""
    to_p = squared_distances(form.kernel, pair.positive, X)
    to_n = squared_distances(form.kernel, pair.negative, X)
    lower, upper = extrema(embed(form, pair), to_p, to_n)
    return form.decision(lower), form.decision(upper)
