"""Generated queries that challenge thresholds (NSV, section 5.2).

They lie inside the convex hull of the data, so they are plausible, and near many support vectors
of one class, yet on the other side of the boundary: the first terms of the sum mislead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.samples import decision_values
from kmcompile.model.coefficients import vector_classes
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import labels_of
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.interpreter import Status, classify
from kmcompile.program.program import Program

_SEED = 20031221
_CLUSTER = 8
"""Number of nearest support vectors of the other class towards which a sample moves."""
_MOST_SAMPLES = 4000
"""Most samples that are searched for stand-ins of the support vectors."""
_BISECTIONS = 12
_LEAST_DEPTH = 0.5
_ROWS = 256


@dataclass(frozen=True, slots=True)
class Challenge:
    """The results of a program on generated queries that challenge its thresholds.

    Parameters
    ----------
    n_points : int
        Number of queries that the program accepts.
    n_decided_early : int
        Number of accepted queries that an early exit decides.
    disagreements : int
        Number of queries decided early whose label is not the model's.
    """

    n_points: int
    n_decided_early: int
    disagreements: int


def challenge(program: Program, machine: KernelMachine, points: Float32Array) -> Challenge:
    """Return how many generated queries early exits decide, and how many of them wrongly."""
    results, _ = classify(program, points)
    accepted = results["status"] == Status.OK
    early = accepted & (results["stage"] < len(program.early_exits))
    labels = labels_of(machine, decision_values(machine, points[early]))
    wrong = results["label"][early] != labels
    return Challenge(int(accepted.sum()), int(early.sum()), int(wrong.sum()))


def generated_challenges(
    machine: KernelMachine, X: Float32Array, n: int, seed: int = _SEED
) -> Float32Array:
    """Return queries near vectors of one class that the machine gives the label of another class.

    A sample of class A takes the class B of its nearest support vector outside A, and the vectors
    of B nearest to this vector. For each of these it takes the nearest other sample with label B.
    The sample then moves towards the mean of these samples while its label stays A. Half of the
    points go as far as bisection finds that the label holds; the others go between half of that
    distance and all of it.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes, with a kernel other than linear.
    X : ndarray of shape (n_samples, n_features), float32
        Samples that the C accepts.
    n : int
        The most points to return.

    Returns
    -------
    ndarray of shape (at most n, n_features), float32
        Empty if the machine gives all samples the same label.
    """
    rng = np.random.default_rng(seed)
    X = X[rng.permutation(len(X))[: max(n, _MOST_SAMPLES)]]
    labels = _labels(machine, X)
    prepared = machine.prepare(X.astype(np.float64))
    starts = np.arange(min(n, len(X)))
    other, clusters = _clusters(machine, prepared[starts], labels[starts])
    stand_ins = _stand_ins(machine, prepared, labels, other, clusters)
    usable = (other != labels[starts]) & (stand_ins >= 0).all(axis=1)
    starts, stand_ins = starts[usable], stand_ins[usable]
    begin = X[starts].astype(np.float64)
    end = X[stand_ins].astype(np.float64).mean(axis=1)

    def keeps_label(share: Float64Array) -> NDArray[np.bool_]:
        points = _between(begin, end, share)
        same: NDArray[np.bool_] = _labels(machine, points) == labels[starts]
        return same

    share = _last_that_holds(keeps_label, len(starts))
    share[1::2] *= rng.uniform(_LEAST_DEPTH, 1.0, size=len(share[1::2]))
    return _between(begin, end, share)[keeps_label(share)]


def _labels(machine: KernelMachine, X: Float32Array) -> NDArray[np.int64]:
    labels: NDArray[np.int64] = labels_of(machine, decision_values(machine, X))
    return labels


def _between(begin: Float64Array, end: Float64Array, share: Float64Array) -> Float32Array:
    """Return the points at a share of the way from begin to end, in float32 as the C gets them."""
    return (begin + share[:, None] * (end - begin)).astype(np.float32)


def _last_that_holds(holds: Callable[[Float64Array], NDArray[np.bool_]], n: int) -> Float64Array:
    """Return, for each of n, the largest share for which `holds` is true, by bisection from 0."""
    low, high = np.zeros(n), np.ones(n)
    low[holds(high)] = 1.0
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2
        held = holds(middle)
        low, high = np.where(held, middle, low), np.where(held, high, middle)
    return low


def _clusters(
    machine: KernelMachine, prepared: Float64Array, labels: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.intp]]:
    """Return the other class of each sample and the nearest vectors of that class.

    Returns
    -------
    other : ndarray of shape (n,), int64
    clusters : ndarray of shape (n, cluster), int
    """
    classes = vector_classes(machine)
    size = min(_CLUSTER, int(np.bincount(classes)[np.unique(classes)].min()))
    other = np.empty(len(prepared), dtype=np.int64)
    clusters = np.empty((len(prepared), size), dtype=np.intp)
    for start in range(0, len(prepared), _ROWS):
        part = slice(start, start + _ROWS)
        distance = _squared_distances(prepared[part], machine.support_vectors)
        distance[classes == labels[part, None]] = np.inf
        other[part] = classes[distance.argmin(axis=1)]
        distance[classes != other[part, None]] = np.inf
        clusters[part] = np.argpartition(distance, size - 1, axis=1)[:, :size]
    return other, clusters


def _stand_ins(
    machine: KernelMachine,
    prepared: Float64Array,
    labels: NDArray[np.int64],
    other: NDArray[np.int64],
    clusters: NDArray[np.intp],
) -> NDArray[np.intp]:
    """Return the sample nearest to each vector of the clusters, of the same class, or -1."""
    nearest = np.full(machine.n_support_vectors, -1, dtype=np.intp)
    classes = vector_classes(machine)
    for label in np.unique(other):
        samples = np.flatnonzero(labels == label)
        vectors = np.unique(clusters[other == label])
        assert (classes[vectors] == label).all()
        for rows in np.array_split(vectors, -(-len(vectors) // _ROWS)):
            if len(samples):
                distance = _squared_distances(machine.support_vectors[rows], prepared[samples])
                nearest[rows] = samples[distance.argmin(axis=1)]
    return nearest[clusters]


def _squared_distances(a: Float64Array, b: Float64Array) -> Float64Array:
    """Return |a_i - b_j|^2, computed as |a|^2 - 2 <a, b> + |b|^2, shape (len(a), len(b))."""
    squares: Float64Array = (a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2.0 * (a @ b.T)
    return squares
