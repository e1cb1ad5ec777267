"""Pre-images of the principal axes of the support vectors in feature space (section 4.2)."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import minimize

from kmcompile.exits.certified.vectors.free import box
from kmcompile.kernels import Kernel, Rbf
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array

_MOST_VECTORS = 1500
_N_STARTS = 3
_STEPS = 100
_CONVERGED = 1e-9


def principal_axes(kernel: Kernel, vectors: Float64Array, n: int) -> Float64Array:
    """Return the first n axes of kernel PCA through the origin, as weights, (n, n_vectors).

    The spans of the bounds go through the origin, so nothing is centred.
    """
    n = min(n, len(vectors))
    last = len(vectors) - 1
    values = kernel.values(vectors, vectors)
    squares, axes = eigh(values, subset_by_index=(last - n + 1, last))
    positive = squares[::-1] > 1e-12 * squares[-1]
    found: Float64Array = (axes[:, ::-1] / np.sqrt(np.maximum(squares[::-1], 1e-300))).T[positive]
    return found


def preimage(
    kernel: Kernel, vectors: Float64Array, weights: Float64Array, limits: list[tuple[float, float]]
) -> Float64Array:
    """Return z whose phi(z) is nearest to a multiple of V = sum_i weights_i phi(x_i).

    It maximises <V, phi(z)>^2 / K(z, z): by fixed-point iteration for rbf, where z = sum_i v_i x_i
    / sum_i v_i, v_i = weights_i K(z, x_i), at a maximum (Schölkopf et al. 1999, section 4), which
    diverges from some starts; then, or alone, by L-BFGS. It starts at the best of the vectors.
    """
    product = kernel.values(vectors, vectors) @ weights
    order = (product**2 / np.maximum(kernel.self_values(vectors), 1e-300)).argsort()[::-1]

    def loss(z: Float64Array) -> tuple[float, Float64Array]:
        Z = z[None]
        square = max(float(kernel.self_values(Z)[0]), 1e-300)
        inner = float(kernel.values(vectors, Z)[0] @ weights)
        slope = 2 * inner * kernel.gradient(Z, vectors, weights[None])
        slope -= inner**2 / square * kernel.self_gradient(Z)
        return -(inner**2) / square, -slope[0] / square

    starts = list(vectors[order[:_N_STARTS]])
    if isinstance(kernel, Rbf):
        starts += [fixed_point(kernel, vectors, weights, start) for start in starts]
    found = [minimize(loss, start, jac=True, method="L-BFGS-B", bounds=limits) for start in starts]
    best: Float64Array = min(found, key=lambda each: float(each.fun)).x
    return best


def fixed_point(
    kernel: Rbf, vectors: Float64Array, weights: Float64Array, start: Float64Array
) -> Float64Array:
    """Return where the iteration ends, or the start if it leaves the vectors' reach."""
    z, scale = start, float(vectors.std()) + 1e-300
    for _ in range(_STEPS):
        share = weights * kernel.values(vectors, z[None])[0]
        if abs(share.sum()) <= 1e-9 * np.abs(share).sum():
            return start
        moved = share @ vectors / share.sum()
        if np.abs(moved - z).max() < _CONVERGED * scale:
            break
        z = moved
    return z if np.abs(z).max() <= 2 * np.abs(vectors).max() else start


def preimage_vectors(normals: Normals, n: int, seed: int) -> Float64Array:
    """Return at most n pre-images: of positive and negative vectors' axes, turn by turn.

    A vector belongs to the side of its largest coefficient. Of more than 1,500 on a side, a
    random 1,500 are used.
    """
    rng = np.random.default_rng(seed)
    largest = np.abs(normals.coefficients).argmax(axis=0)
    sign = np.sign(normals.coefficients[largest, np.arange(len(normals.vectors))])
    limits = box(normals)
    sides = []
    for side in (1, -1):
        members = np.flatnonzero(sign == side)
        if len(members) > _MOST_VECTORS:
            members = np.sort(rng.choice(members, _MOST_VECTORS, replace=False))
        if not len(members):
            continue
        own = normals.vectors[members]
        axes = principal_axes(normals.kernel, own, -(-n // 2))
        sides.append([preimage(normals.kernel, own, axis, limits) for axis in axes])
    turns = [side[i] for i in range(n) for side in sides if i < len(side)]
    return np.array(turns[:n]).reshape(-1, normals.vectors.shape[1])
