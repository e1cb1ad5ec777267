"""Free vectors: anywhere, each optimised to reduce the residual most (DeCoste 2001, 4.2)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from kmcompile.exits.certified.vectors.greedy import Pursuit
from kmcompile.exits.certified.vectors.span import LEAST_PIVOT, Span
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array

_ITERATIONS = 20
"""More iterations, or more starts, end in other minima that are no better after `refine`."""

SEARCHES = 2 * 25
"""Evaluations of the gain for one vector, from two starts, with line searches."""

_PERTURBATION = 0.1
_ROOM = 0.5


def gain(span: Span, relative: Float64Array, z: Float64Array) -> tuple[float, Float64Array]:
    """Return what z takes of sum_p |W_p - proj W_p|^2 relative_p, and its gradient.

    The gain is sum_p relative_p c_p^2 / d with c_p = <W_p - proj W_p, phi(z)> and
    d = K(z, z) - |q|^2; 0 where d is less than LEAST_PIVOT of K(z, z).

    Parameters
    ----------
    span : Span
    relative : ndarray of shape (n_decisions,), float64
    z : ndarray of shape (n_features,), float64

    Returns
    -------
    gain : float
    gradient : ndarray of shape (n_features,), float64
    """
    normals, Z = span.normals, z[None]
    square = float(normals.kernel.self_values(Z)[0])
    q = span.coordinates(Z)[0]
    d = square - float(q @ q)
    if d <= LEAST_PIVOT * square:
        return 0.0, np.zeros_like(z)
    c = normals.product(Z)[0] - q @ span.weights
    value = float((relative * c) @ c) / d
    per_product = 2 * relative * c / d
    on_vectors = normals.sums.back(per_product[None])
    on_span = ((2 * value / d * q - span.weights @ per_product) @ span.triangle)[None]
    slope = normals.kernel.gradient(Z, normals.vectors, on_vectors)
    if len(span):
        slope += normals.kernel.gradient(Z, span.vectors, on_span)
    slope -= value / d * normals.kernel.self_gradient(Z)
    return value, slope[0]


def free_vectors(
    normals: Normals, n: int, seed: int, first: Float64Array | None = None
) -> Float64Array:
    """Return at most n vectors, each the best that is found after those before it.

    Parameters
    ----------
    normals : Normals
    n : int
    seed : int
    first : ndarray of shape (at most n, n_features), float64, optional
        Vectors to begin with. Those that lie nearly in the span of earlier ones are left out.
    """
    rng = np.random.default_rng(seed)
    pursuit = Pursuit(normals, n)
    for z in () if first is None else first:
        if pursuit.span.pivot(z) > LEAST_PIVOT:
            pursuit.add(z)
    while len(pursuit.span) < n:
        next_one = next_vector(pursuit, rng)
        if next_one is None:
            break
        pursuit.add(next_one)
    return pursuit.span.vectors


def next_vector(pursuit: Pursuit, rng: np.random.Generator) -> Float64Array | None:
    """Return the vector of the largest gain that L-BFGS finds, or None where none has any.

    It starts at the best support vector and at a perturbation of it.
    """
    normals = pursuit.span.normals
    gains = pursuit.gains()
    best = int(gains.argmax())
    scale = gains[best]
    if scale <= 0:
        return None

    def loss(z: Float64Array) -> tuple[float, Float64Array]:
        value, slope = gain(pursuit.span, pursuit.relative, z)
        return -value / scale, -slope / scale

    start = normals.vectors[best]
    moved = _PERTURBATION * normals.vectors.std(axis=0) * rng.normal(size=len(start))
    options = {"maxiter": _ITERATIONS}
    limits = box(normals)
    found = [
        minimize(loss, each, jac=True, method="L-BFGS-B", bounds=limits, options=options)
        for each in (start, start + moved)
    ]
    z: Float64Array = min(found, key=lambda each: float(each.fun)).x
    return z


def box(normals: Normals) -> list[tuple[float, float]]:
    """Return the support vectors' box widened by half, where free vectors are looked for.

    Far outside of it a vector would take the board's arithmetic out of its ranges.
    """
    least, most = normals.vectors.min(axis=0), normals.vectors.max(axis=0)
    room = _ROOM * (most - least)
    return list(zip(least - room, most + room, strict=True))
