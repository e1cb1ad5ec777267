"""The SVMs of neighbourhoods, trained side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array
from kmcompile.training.neighbours import IndexArray, LocalKernel

_CHUNK = 16
"""Neighbourhoods a task: the points they share travel once."""


@dataclass(frozen=True, slots=True, eq=False)
class LocalModel:
    """The SVM of a neighbourhood, or its only class.

    Parameters
    ----------
    classes : ndarray of shape (n_local,), int64
        The classes of the neighbourhood, ascending.
    support : ndarray of shape (n_support,), int64
        Training points, class by class.
    counts : ndarray of shape (n_local,), int64
        Support vectors of each class; empty for a single class.
    dual_coef : ndarray of shape (n_local - 1, n_support), float64
        In LIBSVM's layout. A decision value > 0 of the classes i < j is a vote for i.
    intercept : ndarray of shape (n_local (n_local - 1) / 2,), float64
    gamma : float
    """

    classes: IndexArray
    support: IndexArray
    counts: IndexArray
    dual_coef: Float64Array
    intercept: Float64Array
    gamma: float

    @property
    def constant(self) -> bool:
        """Whether the neighbourhood has a single class."""
        return len(self.classes) == 1


def fit_local_models(
    data: tuple[Float64Array, IndexArray],
    neighbourhoods: IndexArray,
    gammas: Float64Array,
    kernel: LocalKernel,
    n_jobs: int | None,
) -> list[LocalModel]:
    """Return the SVM of each neighbourhood; the number of jobs changes nothing in it.

    Parameters
    ----------
    data : tuple of ndarray of shape (n, n_features), float64, and (n,), int64
        Training points and their classes, 0 to n_classes - 1.
    neighbourhoods : ndarray of shape (n_centres, k), int64
    gammas : ndarray of shape (n_centres,), float64
    kernel : LocalKernel
        Its gamma counts for no neighbourhood.
    n_jobs : int or None
        joblib's; a backend chosen with `joblib.parallel_config` carries the work.
    """
    done = Parallel(n_jobs=n_jobs)(
        delayed(_fit_chunk)(*task, kernel) for task in _chunks(data, neighbourhoods, gammas)
    )
    return [model for models in done for model in models]


def _chunks(
    data: tuple[Float64Array, IndexArray], neighbourhoods: IndexArray, gammas: Float64Array
) -> Iterator[tuple[Float64Array, IndexArray, IndexArray, IndexArray, Float64Array]]:
    X, y = data
    for start in range(0, len(neighbourhoods), _CHUNK):
        part = slice(start, start + _CHUNK)
        rows, local = np.unique(neighbourhoods[part], return_inverse=True)
        yield X[rows], y[rows], rows, local.reshape(-1, neighbourhoods.shape[1]), gammas[part]


def _fit_chunk(
    X: Float64Array,
    y: IndexArray,
    rows: IndexArray,
    neighbourhoods: IndexArray,
    gammas: Float64Array,
    kernel: LocalKernel,
) -> Sequence[LocalModel]:
    return [
        _fit(X[members], y[members], rows[members], float(gamma), kernel)
        for members, gamma in zip(neighbourhoods, gammas, strict=True)
    ]


def _fit(
    X: Float64Array, y: IndexArray, rows: IndexArray, gamma: float, kernel: LocalKernel
) -> LocalModel:
    classes = np.unique(y)
    none = np.empty(0, dtype=np.int64)
    if len(classes) == 1:
        return LocalModel(classes, none, none, np.empty((0, 0)), np.empty(0), gamma)
    machine = kernel.machine(gamma).fit(X, y)
    # scikit-learn turns the signs of two classes around, so that > 0 is the second one.
    sign = -1.0 if len(classes) == 2 else 1.0
    return LocalModel(
        classes,
        rows[machine.support_],
        np.asarray(machine.n_support_, dtype=np.int64),
        sign * np.asarray(machine.dual_coef_, dtype=np.float64),
        sign * np.asarray(machine.intercept_, dtype=np.float64),
        gamma,
    )


@dataclass(frozen=True, slots=True, eq=False)
class Leaves:
    """Local models as the arrays of a routed machine; equal constants are one leaf.

    Parameters
    ----------
    of_centre : ndarray of shape (n_centres,), int64
        The leaf of each centre.
    support : ndarray of shape (n_members,), int64
        Training points, leaf by leaf, class by class.
    ends : ndarray of shape (n_leaves,), int64
    gamma : ndarray of shape (n_members,), float64
    dual_coef : ndarray of shape (largest number of local classes - 1, n_members), float64
    intercept : ndarray, float64
        Two classes: shape (n_leaves, 1). More: of all pairs of a leaf's classes, leaf by leaf.
    intercept_ends : ndarray of shape (n_leaves,), int64
    class_counts : ndarray of shape (n_leaves, n_classes), int64
    constants : ndarray of shape (n_leaves,), int64
        The class of a leaf of one class, otherwise -1.
    """

    of_centre: IndexArray
    support: IndexArray
    ends: IndexArray
    gamma: Float64Array
    dual_coef: Float64Array
    intercept: Float64Array
    intercept_ends: IndexArray
    class_counts: IndexArray
    constants: IndexArray


def assemble(models: Sequence[LocalModel], n_classes: int) -> Leaves:
    """Return the leaves of local models: the mixed ones in their order, then the constants."""
    mixed = [model for model in models if not model.constant]
    constants = sorted({int(model.classes[0]) for model in models if model.constant})
    of_centre = np.empty(len(models), dtype=np.int64)
    numbers = iter(range(len(mixed)))
    for centre, model in enumerate(models):
        if model.constant:
            of_centre[centre] = len(mixed) + constants.index(int(model.classes[0]))
        else:
            of_centre[centre] = next(numbers)
    n_leaves = len(mixed) + len(constants)
    counts = np.zeros((n_leaves, n_classes), dtype=np.int64)
    for leaf, model in enumerate(mixed):
        counts[leaf, model.classes] = model.counts
    labels = np.full(n_leaves, -1)
    labels[len(mixed) :] = constants
    pairs = _padded_ends([len(model.intercept) for model in mixed], n_leaves)
    intercept = np.concatenate([np.empty(0), *(model.intercept for model in mixed)])
    dual_coef = _dual_coef(mixed)
    if n_classes == 2:
        dual_coef = -dual_coef
        intercept = np.concatenate([-intercept, 2.0 * np.array(constants) - 1.0])[:, None]
    return Leaves(
        of_centre,
        np.concatenate([np.empty(0, dtype=np.int64), *(model.support for model in mixed)]),
        _padded_ends([len(model.support) for model in mixed], n_leaves),
        np.repeat([m.gamma for m in mixed], [len(m.support) for m in mixed]).astype(np.float64),
        dual_coef,
        intercept,
        pairs,
        counts,
        labels,
    )


def _dual_coef(mixed: Sequence[LocalModel]) -> Float64Array:
    rows = max([1, *(len(model.dual_coef) for model in mixed)])
    padded = [np.pad(m.dual_coef, ((0, rows - len(m.dual_coef)), (0, 0))) for m in mixed]
    return np.concatenate([np.empty((rows, 0)), *padded], axis=1)


def _padded_ends(sizes: Sequence[int], n_leaves: int) -> NDArray[np.int64]:
    ends = np.cumsum([*sizes, *[0] * (n_leaves - len(sizes))])
    return np.asarray(ends, dtype=np.int64)
