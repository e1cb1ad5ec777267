"""Generate inputs like those that a machine will meet, from its support vectors."""

from __future__ import annotations

import numpy as np

from kmcompile.model.coefficients import vector_classes
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.leaves import leaf_machines
from kmcompile.model.likely_inputs import raw_vectors
from kmcompile.numeric.arrays import Float32Array, Float64Array

_SEED = 20011109
_NEAREST = 4
_LEAST_OF_LEAF = 12
_FARTHEST = 0.75
"""Largest distance of an input behind a vector, relative to the vector's distance to one of another
class."""


def likely_inputs(machine: KernelMachine, n: int) -> Float32Array:
    """Return inputs between the support vectors of a class, and behind them.

    Support vectors are the training inputs nearest to the boundary. Most inputs lie behind them,
    seen from the other class. Half of the generated inputs are therefore points behind vectors. A
    sixth each are mixtures of two vectors of a class, of four vectors of a class, and of a vector
    with its nearest ones; the weights of a mixture are drawn evenly. Sign maps need points behind
    the vectors, local expansions need mixtures; with half of each, neither exit is far from its
    best share. All vectors of a regression count as one class, and all its inputs are mixtures.

    Returns
    -------
    ndarray of shape (n, n_features), float32
    """
    rng = np.random.default_rng(_SEED)
    vectors = raw_vectors(machine, rng)
    classes = vector_classes(machine)
    share = n // (3 if machine.task is Task.REGRESSION else 6)
    parts = [
        _mixed(vectors, _of_one_class(classes, (share, 2), rng), rng),
        _mixed(vectors, _of_one_class(classes, (share, 4), rng), rng),
        _mixed(vectors, _neighbours(machine, vectors, classes, share, rng), rng),
        _behind(vectors, classes, n - 3 * share, rng),
    ]
    return np.concatenate(parts).astype(np.float32)


def likely_inputs_of_leaves(machine: KernelMachine, n: int) -> Float32Array:
    """Return inputs as `likely_inputs` does, of each leaf of a routed machine by its own vectors.

    Raises
    ------
    InputError
        If leaves are more than sums of kernels of one gamma.
    """
    leaves = [leaf for leaf in leaf_machines(machine) if leaf is not None]
    share = max(_LEAST_OF_LEAF, n // max(1, len(leaves)))
    parts = [likely_inputs(leaf, share) for leaf in leaves]
    return np.concatenate(parts) if parts else np.zeros((0, machine.n_features), np.float32)


def _behind(
    vectors: Float64Array, classes: np.ndarray, n: int, rng: np.random.Generator
) -> Float64Array:
    """Return points on the far side of vectors, seen from a vector of another class."""
    first, second = rng.integers(len(vectors), size=(2, 8 * n))
    apart = np.flatnonzero(classes[first] != classes[second])[:n]
    a, b = vectors[first[apart]], vectors[second[apart]]
    points: Float64Array = a + (a - b) * rng.random((len(a), 1)) * _FARTHEST
    return points


def _mixed(vectors: Float64Array, chosen: np.ndarray, rng: np.random.Generator) -> Float64Array:
    weights = rng.dirichlet(np.ones(chosen.shape[1]), size=len(chosen))
    mixed: Float64Array = (weights[:, :, None] * vectors[chosen]).sum(axis=1)
    return mixed


def _of_one_class(
    classes: np.ndarray, shape: tuple[int, int], rng: np.random.Generator
) -> np.ndarray:
    """Return an array of indices of vectors, in which each row's vectors are of one class."""
    first = rng.integers(len(classes), size=shape[0])
    order = np.argsort(classes, kind="stable")
    start = np.searchsorted(classes[order], classes[first])
    end = np.searchsorted(classes[order], classes[first], side="right")
    others = start[:, None] + (rng.random(shape) * (end - start)[:, None]).astype(np.intp)
    chosen: np.ndarray = order[others]
    return chosen


def _neighbours(
    machine: KernelMachine,
    vectors: Float64Array,
    classes: np.ndarray,
    n: int,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the indices of vectors with the nearest vectors of their class, in kernel distance."""
    seen = machine.prepare(vectors)
    first = rng.integers(len(vectors), size=n)
    square = (seen**2).sum(axis=1)
    distance = square[first, None] + square - 2 * seen[first] @ seen.T
    distance[classes[first, None] != classes] = np.inf
    nearest: np.ndarray = np.argsort(distance, axis=1, kind="stable")[:, : _NEAREST + 1]
    # A class may have fewer vectors: its first vector then fills the row.
    alike = np.take_along_axis(distance, nearest, axis=1) < np.inf
    return np.where(alike, nearest, first[:, None])
