"""Detect training data: samples that contain the machine's support vectors, exactly or nearly."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.near_copies import groups_of, near_copies, row_keys, standardised
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array

TRAINING_SHARE = 0.05
"""Least share of the support vectors found among the samples, beyond the share that repeated
samples explain, for the samples to count as training data.

If only a part of the training data is given, the share of the samples that are support vectors is
compared with it instead."""
_MOST_EXPLAINED = 0.25
"""Largest share of support vectors among the samples that repeated samples can explain."""

_SEED = 20031208
_BLOCK_VALUES = 1 << 21
_SAME_POINT = 1e-6
"""Largest distance of equal points in units of the vectors' spread, apart from rounding to
float32."""
_INPUT_ROUNDOFF = 2.0**-24


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPoints:
    """Which samples are support vectors.

    Parameters
    ----------
    vector : ndarray of shape (n,), int64
        Index of the vector that the sample equals, or -1.
    found_share : float
        Share of the vectors that are found among the samples.
    vector_share : float
        Share of the distinct samples that are vectors.
    repeated_share : float
        Share of the samples that repeat another one, or nearly: about what `found_share` is for
        samples that are independent of the training.
    """

    vector: NDArray[np.int64]
    found_share: float
    vector_share: float
    repeated_share: float

    @property
    def training(self) -> bool:
        """Whether the machine was trained on the samples, or on a part of them."""
        explained = min(self.repeated_share, _MOST_EXPLAINED)
        return (
            self.found_share > self.repeated_share + TRAINING_SHARE
            or self.vector_share > explained + TRAINING_SHARE
        )


def training_points(
    machine: KernelMachine, X: Float32Array, repeated: float | None = None
) -> TrainingPoints:
    """Return which samples are support vectors, exactly or nearly.

    The trainer prepared the vectors in its own arithmetic, from float64 values that became the
    float32 values of X, so the bytes do not match. A sample is therefore taken for a vector if its
    distance is at most a millionth of the vectors' spread plus four times the effect of rounding
    its features. Samples with fewer digits than the training data, or with noise, are further away.
    They are taken for the vector of which they are a near copy.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes of `kmcompile.passes`.
    X : ndarray of shape (n, n_features), float32
    repeated : float, optional
        The share of samples that repeat others, or nearly, before each counted once; by default
        that of X.
    """
    nearest = _nearest(machine, X)
    nearly, near = _nearly(machine, X)
    vector = np.where(nearest >= 0, nearest, nearly)
    found = near.copy()
    found[nearest[nearest >= 0]] = True
    vector_share = float((vector[first_of_equal(X)] >= 0).mean())
    if repeated is None:
        repeated = groups_of(X, machine).repeated_share
    return TrainingPoints(vector, float(found.mean()), vector_share, repeated)


def _nearest(machine: KernelMachine, X: Float32Array) -> NDArray[np.int64]:
    """Return the vector that each sample equals up to rounding to float32, or -1."""
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
    return found


def _nearly(machine: KernelMachine, X: Float32Array) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the vector of which each sample is a near copy, or -1, and the vectors that have one.

    If the machine was trained on near copies, a group may hold several vectors. Its samples are
    then taken for the first of them.
    """
    n, n_vectors = len(X), machine.n_support_vectors
    group = near_copies(standardised(X, machine, with_vectors=True))
    of_samples, of_vectors = group[:n], group[n:]
    first = np.full(n + n_vectors, -1)
    first[of_vectors[::-1]] = np.arange(n_vectors)[::-1]
    return first[of_samples], np.isin(of_vectors, of_samples)


def first_of_equal(X: Float32Array) -> NDArray[np.intp]:
    """Return the indices of the distinct rows, the first of each, in increasing order."""
    _, first = np.unique(row_keys(X), return_index=True)
    return np.sort(first)


class _Neighbours:
    """Search for very near vectors: the candidates are neighbours in a projection on one line."""

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
