"""Group samples that are near copies of each other: each group is one piece of evidence.

A sample is a near copy of another sample under two conditions. Hardly any feature differs by more
than a fiftieth of its deviation. The two are far nearer to each other than to any other sample.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.statistical.linkage import linkage
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array, frozen

_FEATURE_SHARE = 0.02
"""Largest difference of copies in a feature, as a share of its deviation. Noise of 0.001 of a
deviation gives differences of at most 0.008 in a million samples, and the steps of most counted
features are larger."""
_FEATURES_APART = 0.02
"""Largest share of the features in which copies may differ by more. In wide data, some features
vary so rarely that their deviation among the samples is the noise's."""

_DIMENSIONS = 10
"""Dimensions of the random projection in which the neighbours in wide data are found."""
_REACH = 1.5
"""Search distance in the projection, over the distance of copies with the largest difference in
each feature."""

_FEWEST_VARIATION = 0.03
"""Least deviation, as a share of the root mean square of all deviations, of a feature that is equal
in all vectors: its variation among the samples may be noise."""
_TAILS = (0.5, 99.5)
_MOST_IN_TAILS = 50.0
"""Largest deviation of a feature, as a multiple of the deviation between the percentiles: one
outlier must not make all other samples look equal."""

_SEED = 20031230
_MOST_MEASURED = 5000
"""Most rows on which deviations are measured."""
_BLOCK_VALUES = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """Groups of samples that are equal or near copies of each other.

    Parameters
    ----------
    first : ndarray of shape (n,), int
        The index of the first sample of each sample's group.
    """

    first: NDArray[np.intp]

    def __post_init__(self) -> None:
        object.__setattr__(self, "first", frozen(self.first, self.first.dtype))

    @property
    def firsts(self) -> NDArray[np.intp]:
        """The indices of the samples that come first in their group, in increasing order."""
        return np.unique(self.first)

    @property
    def sizes(self) -> NDArray[np.intp]:
        """Number of samples in the group of each sample, shape (n,)."""
        return np.bincount(self.first)[self.first]

    @property
    def repeated_share(self) -> float:
        """Share of the samples whose group has other samples."""
        return float((self.sizes > 1).mean())


def groups_of(X: Float32Array, machine: KernelMachine | None = None) -> Groups:
    """Return the groups of samples that are equal or near copies of each other.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float32
        Samples that the C accepts.
    machine : KernelMachine, optional
        The machine after the passes. Samples are compared after its preprocessing. Its vectors give
        the deviation of features that do not vary among the samples. Without a machine, raw
        samples are compared.
    """
    _, first, inverse = np.unique(row_keys(X), return_index=True, return_inverse=True)
    equal = first[inverse]
    distinct = np.unique(first)
    nearly = distinct
    if len(distinct) > 1:
        nearly = distinct[near_copies(standardised(X[distinct], machine))]
    place = np.searchsorted(distinct, equal)
    return Groups(nearly[place])


def row_keys(X: Float32Array) -> NDArray[np.void]:
    """Return the bytes of each row as one value."""
    rows = np.ascontiguousarray(X + np.float32(0.0))  # -0 and 0 are equal
    return rows.view(np.dtype((np.void, rows.itemsize * rows.shape[1]))).ravel()


def near_copies(Z: Float32Array) -> NDArray[np.intp]:
    """Return the index of the first point of each point's group of near copies.

    Parameters
    ----------
    Z : ndarray of shape (n, n_features), float32
        Samples in units of their features' deviations.
    """
    first = np.arange(len(Z))
    projected = _projected(Z)
    reach = _REACH * _FEATURE_SHARE * np.sqrt(projected.shape[1])

    def are_copies(points: NDArray[np.intp]) -> bool:
        rows = max(1, _BLOCK_VALUES // Z.shape[1])
        for start in range(0, len(points), rows):
            apart = np.abs(Z[points[start : start + rows]] - Z[points[0]]) > _FEATURE_SHARE
            if (apart.sum(axis=1) > _FEATURES_APART * Z.shape[1]).any():
                return False
        return True

    for points in linkage(projected, reach).clumps(are_copies):
        first[points] = points[0]
    return first


def standardised(
    X: Float32Array, machine: KernelMachine | None = None, *, with_vectors: bool = False
) -> Float32Array:
    """Return samples, prepared by a machine, in units of their features' deviations.

    Parameters
    ----------
    X : ndarray of shape (n, n_features), float32
    machine : KernelMachine, optional
    with_vectors : bool
        Whether to append the machine's vectors to the samples.

    Returns
    -------
    ndarray of shape (n, n_kernel_features) or (n + n_sv, n_kernel_features), float32
    """
    centre, deviation = _spread(X, machine)
    vectors = machine.support_vectors if machine is not None and with_vectors else None
    n = len(X)
    Z = np.empty((n + (0 if vectors is None else len(vectors)), len(centre)), dtype=np.float32)
    rows = max(1, _BLOCK_VALUES // max(X.shape[1], len(centre)))
    with np.errstate(over="ignore"):  # an infinite point is far from all finite ones
        for start in range(0, n, rows):
            some = _prepared(X[start : start + rows], machine)
            Z[start : start + len(some)] = (some - centre) / deviation
        if vectors is not None:
            Z[n:] = (vectors - centre) / deviation
    largest = np.finfo(np.float32).max
    return np.clip(Z, -largest, largest, out=Z)


def _prepared(X: Float32Array, machine: KernelMachine | None) -> Float64Array:
    rows = X.astype(np.float64)
    return rows if machine is None else machine.prepare(rows)


def _spread(X: Float32Array, machine: KernelMachine | None) -> tuple[Float64Array, Float64Array]:
    """Return each feature's median among samples, and its deviation in samples or vectors."""
    rng = np.random.default_rng(_SEED)
    some = _prepared(X[rng.permutation(len(X))[:_MOST_MEASURED]], machine)
    centre, deviation = np.median(some, axis=0), _deviation(some)
    learned = deviation
    if machine is not None:
        chosen = rng.permutation(machine.n_support_vectors)[:_MOST_MEASURED]
        learned = _deviation(machine.support_vectors[chosen])
        deviation = np.maximum(deviation, learned)
    most = deviation.max(initial=0.0)
    if most == 0.0:
        return centre, np.ones(len(deviation))
    fewest = _FEWEST_VARIATION * most * np.sqrt(((deviation / most) ** 2).mean())
    return centre, np.where(learned > 0, deviation, np.maximum(deviation, fewest))


def _deviation(rows: Float64Array) -> Float64Array:
    """Return the deviation of each feature, of which a few outliers make only a little."""
    low, high = np.percentile(rows, _TAILS, axis=0)
    inner = np.clip(rows, low, high).std(axis=0)
    whole: Float64Array = rows.std(axis=0)
    return np.where(inner > 0, np.minimum(whole, _MOST_IN_TAILS * inner), whole)


def _projected(Z: Float32Array) -> Float64Array:
    """Return points with few dimensions: wide data are projected on random directions."""
    d = Z.shape[1]
    if d <= _DIMENSIONS:
        return Z.astype(np.float64)
    directions = np.random.default_rng(_SEED).standard_normal((d, _DIMENSIONS)) / np.sqrt(d)
    found = np.empty((len(Z), _DIMENSIONS))
    rows = max(1, _BLOCK_VALUES // d)
    for start in range(0, len(Z), rows):
        found[start : start + rows] = Z[start : start + rows].astype(np.float64) @ directions
    return found
