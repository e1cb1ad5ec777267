"""Generate inputs like those that a machine will meet, from its support vectors."""

from __future__ import annotations

import numpy as np

from kmcompile.model.coefficients import vector_classes
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.leaves import leaf_machines
from kmcompile.model.likely_inputs import before_steps, raw_vectors
from kmcompile.model.reference import evaluate
from kmcompile.numeric.arrays import Float32Array, Float64Array

_SEED = 20011109
_NEAREST = 4
_LEAST_OF_LEAF = 12
_DRAWN = 3
"""Points that are drawn for each that is returned, where margins choose among them."""
_OUTSIDE = 2 / 3
"""Share of the points outside the margin, |f| >= 1, where all training inputs are that are no
support vectors. Half to three quarters of the queries of tuned machines are there."""
_FARTHEST = 0.75
"""Largest distance of an input behind a vector, relative to the vector's distance to one of another
class."""
_BLOCK_VALUES = 1 << 25
"""Most distances of vectors at once."""


def likely_inputs(machine: KernelMachine, n: int) -> Float32Array:
    """Return inputs between the support vectors, beside them and behind them.

    A sixth each are mixtures of two vectors of a class, of four vectors of a class, and of a vector
    with its nearest ones; the weights of a mixture are drawn evenly. A third are vectors moved by
    the difference of two near ones of a class: they vary as inputs do, mixtures vary less. Support
    vectors are the training inputs nearest to the boundary, and most inputs lie behind them, seen
    from the other class: a sixth are points behind vectors. All vectors of a regression count as
    one class, and all its inputs are mixtures.

    Such points are nearer to the boundary than queries are. So of the points of a machine with a
    margin more are drawn, and most of those that are returned lie outside the margin.

    Returns
    -------
    ndarray of shape (n, n_features), float32
    """
    rng = np.random.default_rng(_SEED)
    vectors = raw_vectors(machine, rng)
    classes = vector_classes(machine)
    share = n // (3 if machine.task is Task.REGRESSION else 6)
    has_margin = machine.task in (Task.BINARY, Task.ONE_VS_ONE) and machine.routing is None
    drawn = _DRAWN if has_margin else 1
    parts = [
        _mixed(vectors, _of_one_class(classes, (drawn * share, 2), rng), rng),
        _mixed(vectors, _of_one_class(classes, (drawn * share, 4), rng), rng),
        _mixed(vectors, _neighbours(machine, vectors, classes, drawn * share, rng), rng),
    ]
    rest = n - 3 * share
    behind, shifted = rest // 3, rest - rest // 3
    near = _neighbours(machine, vectors, classes, drawn * shifted, rng)
    parts.append(_shifted(vectors, near, rng))
    parts.append(_behind(vectors, classes, drawn * behind, rng))
    points: list[Float32Array] = [part.astype(np.float32) for part in parts]
    if has_margin:
        sizes = (share, share, share, shifted, behind)
        points = [_outside_margin(machine, X, k) for X, k in zip(points, sizes, strict=True)]
    return np.concatenate(points)


def _outside_margin(machine: KernelMachine, X: Float32Array, n: int) -> Float32Array:
    """Return n of the points, of which `_OUTSIDE` have a margin of 1, if there are so many.

    If they are too few, those with the largest margins take their place.
    """
    margin = _margins(machine, X)
    outside = np.flatnonzero(margin >= 1.0)[: round(_OUTSIDE * n)]
    others = np.setdiff1d(np.arange(len(X)), outside)
    missing = max(0, round(_OUTSIDE * n) - len(outside))
    largest = others[np.argsort(-margin[others], kind="stable")[:missing]]
    chosen = np.concatenate([outside, largest])
    rest = np.setdiff1d(others, largest)[: max(0, n - len(chosen))]
    points: Float32Array = X[np.sort(np.concatenate([chosen, rest]))]
    return points


def _margins(machine: KernelMachine, X: Float32Array) -> Float64Array:
    """Return the smallest |f| of the decisions in which the label takes part, shape (n,)."""
    found = evaluate(machine, X)
    sizes = np.abs(found.decisions)
    if machine.task is Task.BINARY:
        margin: Float64Array = sizes[:, 0]
        return margin
    first, second = np.triu_indices(machine.n_classes, 1)
    own = (found.labels[:, None] == first) | (found.labels[:, None] == second)
    margin = np.where(own, sizes, np.inf).min(axis=1)
    return margin


def likely_inputs_of_leaves(machine: KernelMachine, n: int) -> Float32Array:
    """Return inputs between the support vectors of a class in each leaf of a routed machine.

    A leaf's vectors lie around its queries, not only between them and those of the other class.
    Half of the inputs are mixtures of two vectors, half of a vector with its nearest ones. More
    inputs are the weights of choices that lead to leaves without vectors, as many as their share.

    Raises
    ------
    InputError
        If leaves are more than sums of kernels of one gamma.
    """
    rng = np.random.default_rng(_SEED)
    leaves = [leaf for leaf in leaf_machines(machine) if leaf is not None]
    share = max(_LEAST_OF_LEAF, n // max(1, len(leaves))) // 2
    parts = [np.zeros((0, machine.n_features))]
    for leaf in leaves:
        vectors, classes = raw_vectors(leaf, rng), vector_classes(leaf)
        parts.append(_mixed(vectors, _of_one_class(classes, (share, 2), rng), rng))
        parts.append(_mixed(vectors, _neighbours(leaf, vectors, classes, share, rng), rng))
    parts.append(_of_constants(machine, 2 * share * len(leaves), rng))
    return np.concatenate(parts).astype(np.float32)


def _of_constants(machine: KernelMachine, n: int, rng: np.random.Generator) -> Float64Array:
    """Return inputs of the leaves without vectors; n belong to the others."""
    routing = machine.routing
    assert routing is not None
    ends = routing.targets < 0
    empty = ends.copy()  # other targets are nodes, which no leaf's number stands for
    empty[ends] = routing.leaf_sizes[-1 - routing.targets[ends]] == 0
    if not empty.any() or empty.sum() == ends.sum():
        return np.zeros((0, machine.n_features))
    more = int(n * empty.sum() / (ends.sum() - empty.sum()))
    points = before_steps(machine, routing.weights[empty])
    drawn: Float64Array = points[rng.integers(len(points), size=min(more, 10 * n))]
    return drawn


def _behind(
    vectors: Float64Array, classes: np.ndarray, n: int, rng: np.random.Generator
) -> Float64Array:
    """Return points on the far side of vectors, seen from a vector of another class."""
    first, second = rng.integers(len(vectors), size=(2, 8 * n))
    apart = np.flatnonzero(classes[first] != classes[second])[:n]
    a, b = vectors[first[apart]], vectors[second[apart]]
    points: Float64Array = a + (a - b) * rng.random((len(a), 1)) * _FARTHEST
    return points


def _shifted(vectors: Float64Array, near: np.ndarray, rng: np.random.Generator) -> Float64Array:
    """Return any vectors moved by the difference of two near ones, in the range of the vectors."""
    n, n_near = near.shape
    column = rng.integers(1, max(2, n_near), size=n) % n_near  # one vector alone is near itself
    one, other = near[:, 0], near[np.arange(n), column]
    start = rng.integers(len(vectors), size=n)
    share = rng.uniform(0.5, 1.0, size=(n, 1))
    points: Float64Array = vectors[start] + share * (vectors[other] - vectors[one])
    return points.clip(vectors.min(axis=0), vectors.max(axis=0))


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
    rows = max(1, _BLOCK_VALUES // len(vectors))
    blocks = (first[start : start + rows] for start in range(0, max(n, 1), rows))
    return np.concatenate([_nearest(seen, classes, block) for block in blocks])


def _nearest(seen: Float64Array, classes: np.ndarray, first: np.ndarray) -> np.ndarray:
    """Return for some vectors the nearest ones of their class; of equally near ones the first."""
    square = (seen**2).sum(axis=1)
    distance = seen[first] @ seen.T
    distance *= -2
    distance += square[first, None] + square
    distance[classes[first, None] != classes] = np.inf
    k = min(_NEAREST + 1, len(seen))
    nearest: np.ndarray = np.argpartition(distance, k - 1, axis=1)[:, :k]
    within = distance <= np.take_along_axis(distance, nearest, axis=1).max(axis=1, keepdims=True)
    for row in np.flatnonzero(within.sum(axis=1) > k):
        nearest[row] = np.argsort(distance[row], kind="stable")[:k]
    nearest.sort(axis=1)
    order = np.argsort(np.take_along_axis(distance, nearest, axis=1), axis=1, kind="stable")
    nearest = np.take_along_axis(nearest, order, axis=1)
    # A class may have fewer vectors: its first vector then fills the row.
    alike = np.take_along_axis(distance, nearest, axis=1) < np.inf
    return np.where(alike, nearest, first[:, None])
