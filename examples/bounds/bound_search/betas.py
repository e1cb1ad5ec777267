"""Weights of P^ and N^ for given vectors: by distance, and by bounds-width (2001, 4.1)."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from bound_search.points import DistanceForm, Pair, Point
from bound_search.width_cost import WidthCost
from kmcompile.kernels import Kernel
from kmcompile.numeric.arrays import Float64Array

_DEPENDENT = 1e-13
_N_PERTURBED = 2
_PERTURBATION = 0.1


def distance_betas(kernel: Kernel, vectors: Float64Array, target: Point) -> Float64Array:
    """Return beta = (K^z)^-1 K^zx alpha, which brings sum beta phi(z) nearest to the target (54).

    Where the vectors are dependent it is the shortest of the solutions.
    """
    gram = kernel.values(vectors, vectors)
    products = target.with_query(kernel, vectors)
    found, *_ = np.linalg.lstsq(gram, products, rcond=_DEPENDENT)
    return np.asarray(found, dtype=np.float64)


def distance_pair(form: DistanceForm, positive: Float64Array, negative: Float64Array) -> Pair:
    """Return P^ and N^ nearest to P and N, of vectors Z+ and Z-, (n, n_features) each."""
    return Pair(
        Point(positive, distance_betas(form.kernel, positive, form.positive)),
        Point(negative, distance_betas(form.kernel, negative, form.negative)),
    )


def width_pair(
    cost: WidthCost, positive: Float64Array, negative: Float64Array, seed: int = 0
) -> Pair:
    """Return P^ and N^ of vectors Z+ and Z- with the weights of the least cost that is found.

    L-BFGS starts at the weights by distance, and at small perturbations of them, so it ends with no
    more than what these cost.
    """
    start = distance_pair(cost.form, positive, negative)
    flat = np.concatenate([start.positive.weights, start.negative.weights])

    def pair_of(weights: Float64Array) -> Pair:
        first, second = np.split(weights, [len(positive)])
        return Pair(Point(positive, first), Point(negative, second))

    def loss(weights: Float64Array) -> tuple[float, Float64Array]:
        value, slope = cost(pair_of(weights))
        return value, np.concatenate([slope.positive.weights, slope.negative.weights])

    rng = np.random.default_rng(seed)
    spread = _PERTURBATION * np.abs(flat).mean()
    starts = [flat, *(flat + spread * rng.normal(size=(_N_PERTURBED, len(flat))))]
    found = [minimize(loss, each, jac=True, method="L-BFGS-B") for each in starts]
    return pair_of(min(found, key=lambda each: float(each.fun)).x)
