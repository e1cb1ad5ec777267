"""The SVMs of neighbourhoods, trained side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.class_pairs import settled_decisions
from kmcompile.training.local_pairs import pair_numbers, spread_rows
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
    dual_coef : ndarray of shape (n_pairs, n_members), float64
        Of all pairs of classes. Two classes: > 0 is the second one, otherwise the first.
    intercept : ndarray of shape (n_leaves, n_pairs), float64
    classes : ndarray of shape (n_leaves, n_classes), bool
        Which classes a leaf has.
    """

    of_centre: IndexArray
    support: IndexArray
    ends: IndexArray
    gamma: Float64Array
    dual_coef: Float64Array
    intercept: Float64Array
    classes: NDArray[np.bool_]


def assemble(models: Sequence[LocalModel], n_classes: int) -> Leaves:
    """Return the leaves of local models: the mixed ones in their order, then the constants."""
    mixed = [model for model in models if not model.constant]
    constants = {int(model.classes[0]): model for model in models if model.constant}
    leaves = [*mixed, *(constants[label] for label in sorted(constants))]
    of_class = {label: len(mixed) + n for n, label in enumerate(sorted(constants))}
    numbers = iter(range(len(mixed)))
    of_centre = [of_class[int(m.classes[0])] if m.constant else next(numbers) for m in models]
    classes = np.zeros((len(leaves), n_classes), dtype=bool)
    for leaf, model in enumerate(leaves):
        classes[leaf, model.classes] = True
    sizes = [len(model.support) for model in leaves]
    decisions = [_decisions(model, n_classes) for model in leaves]
    sign = -1.0 if n_classes == 2 else 1.0
    return Leaves(
        np.array(of_centre, dtype=np.int64),
        np.concatenate([model.support for model in leaves]),
        np.cumsum(sizes),
        np.repeat([model.gamma for model in leaves], sizes),
        sign * np.concatenate([coefficients for coefficients, _ in decisions], axis=1),
        sign * np.array([intercept for _, intercept in decisions]),
        classes,
    )


def _decisions(model: LocalModel, n_classes: int) -> tuple[Float64Array, Float64Array]:
    """Return coefficients, shape (n_pairs, n_support), and intercepts of all pairs of classes."""
    present = np.zeros(n_classes, dtype=bool)
    present[model.classes] = True
    intercept = settled_decisions(present)
    coefficients = np.zeros((len(intercept), len(model.support)))
    if not model.constant:
        own = pair_numbers(model.classes, n_classes)
        intercept[own] = model.intercept
        coefficients[own] = spread_rows(model.dual_coef, model.counts)
    return coefficients, intercept
