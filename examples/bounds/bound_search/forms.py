"""Bounds on f by projection: on the line P^N^, on the plane of P^ and N^, on the span of all z.

Each is Cauchy-Schwarz on what the projection leaves unknown, so each holds f, and the more the
projection knows the narrower they are: the line's interval holds the plane's, that the span's.
"""

from __future__ import annotations

import numpy as np

from bound_search.extrema import Interval
from bound_search.points import DistanceForm, Pair, Point, inner, squared_distances
from kmcompile.exits.certified.vectors.span import Span
from kmcompile.numeric.arrays import Float64Array

_DEPENDENT = 1e-13
"""Share of the larger eigenvalue below which P^ and N^ have one direction."""


def line_bounds(form: DistanceForm, pair: Pair, X: Float64Array) -> Interval:
    """Return f in b + <W, P^> + Q_x <u, W> -+ R sqrt(|W|^2 - <u, W>^2).

    u = (N^ - P^) / d_pn, Q_x = <u, Q - P^>, R^2 = d_Qp^2 - Q_x^2: what the paper's extrema are in
    closed form. With d_pn = 0 there is no line, and u = 0.
    """
    kernel, p, n, normal = form.kernel, pair.positive, pair.negative, form.normal
    to_p, to_n = (squared_distances(kernel, point, X) for point in (p, n))
    difference = Point(
        np.concatenate([n.vectors, p.vectors]), np.concatenate([n.weights, -p.weights])
    )
    square = inner(kernel, difference, difference)
    size = max(inner(kernel, p, p), inner(kernel, n, n))
    length = float(np.sqrt(square)) if square > _DEPENDENT * size else np.inf
    along = inner(kernel, difference, normal) / length
    position = (to_p - to_n + square) / (2 * length)
    centre = form.intercept + inner(kernel, p, normal) + position * along
    left = np.maximum(to_p - position**2, 0.0)
    radius = np.sqrt(left * max(inner(kernel, normal, normal) - along**2, 0.0))
    return centre - radius, centre + radius


def plane_bounds(form: DistanceForm, pair: Pair, X: Float64Array) -> Interval:
    """Return the bounds of the projection on span{P^, N^}, through the origin, with K(x, x)."""
    kernel, normal = form.kernel, form.normal
    points = (pair.positive, pair.negative)
    gram = np.array([[inner(kernel, U, V) for V in points] for U in points])
    squares, axes = np.linalg.eigh(gram)
    kept = squares > _DEPENDENT * squares[-1]
    basis = axes[:, kept] / np.sqrt(squares[kept])
    q = np.column_stack([U.with_query(kernel, X) for U in points]) @ basis
    w = np.array([inner(kernel, U, normal) for U in points]) @ basis
    centre = form.intercept + q @ w
    left = np.maximum(kernel.self_values(X) - (q * q).sum(axis=1), 0.0)
    radius = np.sqrt(left * max(inner(kernel, normal, normal) - float(w @ w), 0.0))
    return centre - radius, centre + radius


def span_bounds(span: Span, X: Float64Array, intercept: Float64Array) -> Interval:
    """Return the bounds after each vector of a span, each of shape (n_queries, k, n_decisions).

    f in b + q.w -+ sqrt(K(x, x) - |q|^2) sqrt(|W|^2 - |w|^2), with the first 1, 2, ..., k
    coordinates.
    """
    q, w = span.coordinates(X), span.weights
    left = np.maximum(span.normals.kernel.self_values(X)[:, None] - np.cumsum(q * q, axis=1), 0.0)
    rest = np.maximum(span.normals.squares - np.cumsum(w * w, axis=0), 0.0)
    centre = intercept + np.cumsum(q[:, :, None] * w, axis=1)
    radius = np.sqrt(left)[:, :, None] * np.sqrt(rest)
    return centre - radius, centre + radius
