"""Whether a machine was trained on the samples: its support vectors are among them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.ir.arrays import Float32Array, Float64Array
from kmcompile.ir.kernel_machine import KernelMachine

TRAINING_SHARE = 0.05
"""Share of the support vectors found, beyond what equal samples explain, of training data.

The same share of the samples that are support vectors, where a part of the training is given."""
_MOST_EXPLAINED = 0.25
"""Of the samples that are support vectors, the share that equal samples explain at most."""

_SEED = 20031208
_BLOCK_VALUES = 1 << 21
_SAME_POINT = 1e-6
"""Distance of equal points in units of the vectors' spread, beside what float32 rounds."""
_INPUT_ROUNDOFF = 2.0**-24


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPoints:
    """Which samples are support vectors.

    Parameters
    ----------
    vector : ndarray of shape (n,), int64
        The index of the vector that a sample is, or -1.
    found_share : float
        Share of the vectors that are among the samples.
    vector_share : float
        Share of the distinct samples that are vectors.
    equal_share : float
        Share of the samples that equal another one: about what `found_share` is for samples
        that are independent of the training.
    """

    vector: NDArray[np.int64]
    found_share: float
    vector_share: float
    equal_share: float

    @property
    def training(self) -> bool:
        """Whether the machine was trained on the samples, or on a part of them."""
        explained = min(self.equal_share, _MOST_EXPLAINED)
        return (
            self.found_share > self.equal_share + TRAINING_SHARE
            or self.vector_share > explained + TRAINING_SHARE
        )


def training_points(
    machine: KernelMachine, X: Float32Array, equal: float | None = None
) -> TrainingPoints:
    """Return which samples are support vectors.

    The vectors were prepared by the trainer's own arithmetic, from what was float64 before it
    became the float32 of X, so bytes do not match: a sample is the vector that is no further
    away than a millionth of the vectors' spread and four times what a rounding of its own
    features moves it by.

    Parameters
    ----------
    machine : KernelMachine
        After the passes.
    X : ndarray of shape (n, n_features), float32
    equal : float, optional
        The equal share of the samples that X is the distinct rows of; by default that of X.
    """
    vectors = machine.support_vectors
    spread = float(np.sqrt(((vectors - vectors.mean(axis=0)) ** 2).sum(axis=1).mean()))
    rng = np.random.default_rng(_SEED)
    neighbours = _Neighbours(vectors, rng)
    found = np.full(len(X), -1)
    rows = max(1, _BLOCK_VALUES // max(machine.n_features, vectors.shape[1]))
    for start in range(0, len(X), rows):
        raw = X[start : start + rows].astype(np.float64)
        prepared = machine.prepare(raw)
        signs = rng.choice([-_INPUT_ROUNDOFF, _INPUT_ROUNDOFF], size=raw.shape)
        moved = machine.prepare(raw + signs * raw) - prepared
        reach = _SAME_POINT * spread + 4 * np.sqrt((moved**2).sum(axis=1))
        found[start : start + rows] = neighbours.nearest(prepared, reach)
    n_found = len(np.unique(found[found >= 0]))
    vector_share = float((found[first_of_equal(X)] >= 0).mean())
    equal = equal_share(X) if equal is None else equal
    return TrainingPoints(found, n_found / len(vectors), vector_share, equal)


def equal_share(X: Float32Array) -> float:
    """Return the share of rows that equal another row."""
    _, inverse, count = np.unique(row_keys(X), return_inverse=True, return_counts=True)
    return float((count[inverse] > 1).mean())


def first_of_equal(X: Float32Array) -> NDArray[np.intp]:
    """Return the indices of the distinct rows, the first of each, in their order."""
    _, first = np.unique(row_keys(X), return_index=True)
    return np.sort(first)


def row_keys(X: Float32Array) -> NDArray[np.void]:
    """Return one value for each row, of its bytes."""
    rows = np.ascontiguousarray(X + np.float32(0.0))  # -0 and 0 are equal
    return rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()


class _Neighbours:
    """Finds very near vectors: candidates are neighbours in the projection on one direction."""

    def __init__(self, vectors: Float64Array, rng: np.random.Generator) -> None:
        direction = rng.standard_normal((vectors.shape[1],))
        self.direction = direction / np.sqrt((direction**2).sum())
        keys = vectors @ self.direction
        self.order = np.argsort(keys, kind="stable")
        self.keys = keys[self.order]
        self.vectors = vectors

    def nearest(self, prepared: Float64Array, reach: Float64Array) -> NDArray[np.int64]:
        """Return the index of the nearest vector within `reach` of each row, or -1."""
        own = prepared @ self.direction
        first = np.searchsorted(self.keys, own - reach, side="left")
        last = np.searchsorted(self.keys, own + reach, side="right")
        found = np.full(len(prepared), -1)
        nearest = reach**2
        candidates = np.flatnonzero(first < last)
        while len(candidates):
            vector = self.order[first[candidates]]
            distance = ((prepared[candidates] - self.vectors[vector]) ** 2).sum(axis=1)
            closer = distance < nearest[candidates]
            nearest[candidates[closer]] = distance[closer]
            found[candidates[closer]] = vector[closer]
            first[candidates] += 1
            candidates = candidates[first[candidates] < last[candidates]]
        return found
