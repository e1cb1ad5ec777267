"""Choose the vectors z_1, z_2, ... whose kernels bound the decisions."""

from __future__ import annotations

from typing import Literal

import numpy as np
from threadpoolctl import threadpool_limits

from bound_search.free import free_vectors
from bound_search.preimages import preimage_vectors
from bound_search.refine import NestedCost, refine
from kmcompile.exits.certified.vectors.greedy import greedy_vectors
from kmcompile.exits.certified.vectors.normals import Normals
from kmcompile.exits.certified.vectors.span import Span
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array

Method = Literal["greedy", "free", "pca"]
METHODS: tuple[Method, ...] = ("greedy", "free", "pca")

_MOST_SAMPLES = 400


def choose_vectors(
    machine: KernelMachine,
    n: int,
    method: Method,
    samples: Float32Array,
    seed: int,
) -> Float64Array:
    """Return vectors whose first k, for every k, are a good choice of k.

    - "greedy": support vectors, by matching pursuit on the normals (`greedy`); their kernel values
      are of use to the exact sum.
    - "free": anywhere. From vectors that take most of the residual one after the other (`free`),
      and from greedy ones, all are moved together for early decisions of the samples (`refine`);
      the better end counts.
    - "pca": pre-images of the support vectors' principal axes in feature space (`preimages`).

    Parameters
    ----------
    machine : KernelMachine
    n : int
        At most so many; fewer where more would lie nearly in the span of these.
    method : "greedy", "free" or "pca"
    samples : ndarray of shape (n_samples, n_features), float32
        Raw inputs, for "free" only; where there are none, the support vectors stand in.
    seed : int

    Returns
    -------
    ndarray of shape (at most n, n_kernel_features), float64
        Prepared as the support vectors are.

    Raises
    ------
    InputError
        The kernel is not positive definite.
    """
    with threadpool_limits(1):  # what a matrix product rounds depends on the threads
        normals = Normals.of(machine)
        if method == "greedy":
            return greedy_vectors(normals, n)
        if method == "pca":
            return Span.of(normals, preimage_vectors(normals, n, seed)).vectors
        return _refined_vectors(machine, normals, n, samples, seed)


def _refined_vectors(
    machine: KernelMachine, normals: Normals, n: int, samples: Float32Array, seed: int
) -> Float64Array:
    """Return the better of free and greedy vectors, refined for the samples."""
    X = machine.prepare(samples.astype(np.float64)) if len(samples) else normals.vectors
    rng = np.random.default_rng(seed)
    X = X[np.sort(rng.permutation(len(X))[:_MOST_SAMPLES])]
    f = normals.product(X) + machine.intercept
    clear = (f != 0).all(axis=1)
    starts = [free_vectors(normals, n, seed), greedy_vectors(normals, n)]
    if not clear.any() or not all(len(start) for start in starts):
        return starts[0]
    cost = NestedCost(normals, X[clear], f[clear], machine.intercept)
    refined = [refine(cost, start) for start in starts]
    best = min(refined, key=lambda vectors: cost(vectors)[0])
    return Span.of(normals, best).vectors
