"""The float64 model's answers, against which the answers of a Program are checked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.kernels.kernel import Kernel
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.numeric.threads import one_thread

_BLOCK_VALUES = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Reference:
    """Decision values in float64, and bounds on their distance from exact real arithmetic.

    Parameters
    ----------
    decisions : ndarray of shape (n_queries, n_decisions), float64
    magnitudes : ndarray of shape (n_queries, n_decisions), float64
        sum |beta K| + |b|, called S0 in the error analysis.
    error : ndarray of shape (n_queries, n_decisions), float64
        Bounds on the errors of `decisions`: 1e-12 times the magnitudes, and more for very long
        sums and for kernel values by the faster formula (`Kernel.fast_values`).
    labels : ndarray of shape (n_queries,), int64
        Indices into `classes`, by scikit-learn's rules; -1 in a regression.
    """

    decisions: Float64Array
    magnitudes: Float64Array
    error: Float64Array
    labels: np.ndarray

    def chosen(self, rows: NDArray[np.bool_]) -> Reference:
        """Return the decision values, bounds and labels of the chosen queries only."""
        return Reference(
            self.decisions[rows], self.magnitudes[rows], self.error[rows], self.labels[rows]
        )


def evaluate(machine: KernelMachine, X: Float32Array | Float64Array) -> Reference:
    """Return the model's decision values and labels for the inputs that the C receives.

    Parameters
    ----------
    machine : KernelMachine
    X : ndarray of shape (n_queries, n_features), float32 or float64
        Finite.
    """
    with one_thread():  # threads change the rounding of products
        if machine.routing is not None:
            return _evaluate_leaves(machine, machine.routing, X)
        return _evaluate(machine, X)


def _evaluate(machine: KernelMachine, X: Float32Array | Float64Array) -> Reference:
    coefficients = decision_coefficients(machine).T
    shape = (len(X), machine.n_decisions)
    decisions, magnitudes, error = np.empty(shape), np.empty(shape), np.empty(shape)
    rows = max(1, _BLOCK_VALUES // machine.n_support_vectors)
    for start in range(0, len(X), rows):
        part = slice(start, start + rows)
        prepared = machine.prepare(X[part].astype(np.float64))
        sums = _sums(machine.kernel, machine.support_vectors, coefficients, prepared)
        decisions[part], magnitudes[part], error[part] = _with_intercept(sums, machine.intercept)
    return Reference(decisions, magnitudes, error, labels_of(machine, decisions))


_Sums = tuple[Float64Array, Float64Array, Float64Array]
"""Decisions, magnitudes, and relative errors of shape (n_queries, 1)."""


def _sums(
    kernel: Kernel, vectors: Float64Array, coefficients: Float64Array, prepared: Float64Array
) -> _Sums:
    """Return the sums over vectors, coefficients of shape (n_vectors, n_decisions)."""
    values, added = kernel.fast_values(vectors, prepared)
    relative = _relative_error(vectors.shape) + added[:, None]
    return values @ coefficients, np.abs(values) @ np.abs(coefficients), relative


def _relative_error(shape: tuple[int, ...]) -> float:
    """Return the error of a sum over vectors, in shares of its magnitude."""
    longest = shape[0] + 8 * shape[1]
    return max(1e-12, 2 * longest * UNIT_ROUNDOFF_64)


def _values_of_widths(
    kernel: Kernel, vectors: Float64Array, widths: Float64Array, prepared: Float64Array
) -> tuple[Float64Array, Float64Array]:
    """Return kernels whose gammas are the kernel's times `widths`, and their relative errors.

    The values have the shape (n_queries, n_vectors), the errors (n_queries,).
    """
    if (widths == 1.0).all():
        return kernel.fast_values(vectors, prepared)
    values, added = np.empty((len(prepared), len(vectors))), np.zeros(len(prepared))
    for width in np.unique(widths):
        own = widths == width
        values[:, own], more = kernel.of_gamma_times(width).fast_values(vectors[own], prepared)
        added = np.maximum(added, more)
    return values, added


def _with_intercept(sums: _Sums, intercept: Float64Array) -> _Sums:
    """Return decisions, magnitudes and errors with the intercepts added."""
    decisions, magnitudes, relative = sums
    magnitudes = magnitudes + np.abs(intercept)
    return decisions + intercept, magnitudes, relative * magnitudes


def _evaluate_leaves(
    machine: KernelMachine, routing: Routing, X: Float32Array | Float64Array
) -> Reference:
    """Return the decisions of the queries' leaves.

    The steps before the kernel are counted as accurate to 1e-12, as in a plain machine. Where
    float64 does not tell which of two leaves is meant, the error covers both; where it leaves more
    than two open, the error is infinite.
    """
    prepared = machine.prepare(X.astype(np.float64))
    path = routing.walk(prepared)
    decisions, magnitudes, error = _of_leaves(machine, routing, path.leaf, prepared)
    open_ = np.flatnonzero(path.n_open)
    if len(open_):
        single = path.n_open[open_] == 1
        error[open_[~single]] = np.inf
        open_ = open_[single]
        other = routing.walk(prepared[open_], path.rival[open_])
        values, _, own = _of_leaves(machine, routing, other.leaf, prepared[open_])
        own[other.n_open > 0] = np.inf
        error[open_] = np.maximum(error[open_], np.abs(values - decisions[open_]) + own)
    return Reference(decisions, magnitudes, error, labels_of(machine, decisions))


def _of_leaves(
    machine: KernelMachine, routing: Routing, leaf: NDArray[np.int64], prepared: Float64Array
) -> _Sums:
    """Return decisions, magnitudes and errors in the given leaves."""
    shape = (len(prepared), machine.n_decisions)
    result = np.empty(shape), np.empty(shape), np.empty(shape)
    for number in np.unique(leaf):
        rows = leaf == number
        sums = _of_leaf(machine, routing, number, prepared[rows])
        intercept = machine.intercept + routing.intercepts[number]
        for all_rows, own in zip(result, _with_intercept(sums, intercept), strict=True):
            all_rows[rows] = own
    return result


def _of_leaf(machine: KernelMachine, routing: Routing, leaf: int, prepared: Float64Array) -> _Sums:
    """Return the sums of a leaf: over its vectors, over pairs of them, and of its linear part."""
    members = routing.members(leaf)
    vectors, coefficients = machine.support_vectors[members], machine.dual_coef[:, members].T
    decisions = np.zeros((len(prepared), machine.n_decisions))
    magnitudes = np.zeros_like(decisions)
    relative = np.full((len(prepared), 1), _relative_error(vectors.shape))
    if len(vectors):
        widths = routing.relative_gamma[members]
        values, added = _values_of_widths(machine.kernel, vectors, widths, prepared)
        decisions += values @ coefficients
        magnitudes += np.abs(values) @ np.abs(coefficients)
        relative += added[:, None]
        if routing.has_pairs:
            form = routing.pairs(leaf)
            decisions += np.einsum("qi,pij,qj->qp", values, form, values, optimize=True)
            magnitudes += np.einsum("qi,pij,qj->qp", values, np.abs(form), values, optimize=True)
            relative *= 3  # a product has the errors of two kernels, and is in two sums
    if routing.has_weights:
        weights = routing.leaf_weights[leaf].T
        decisions += prepared @ weights
        magnitudes += np.abs(prepared) @ np.abs(weights)
    return decisions, magnitudes, relative


def labels_of(machine: KernelMachine, decisions: Float64Array) -> np.ndarray:
    """Return the index of scikit-learn's label of each row of decisions; -1 in a regression."""
    labels: np.ndarray
    if machine.task is Task.REGRESSION:
        labels = np.full(len(decisions), -1)
    elif machine.task.has_one_sign:
        f = decisions[:, 0]
        labels = (f >= 0 if machine.zero_is_positive else f > 0).astype(np.int64)
    elif machine.task is Task.ONE_VS_REST:
        labels = decisions.argmax(axis=1)
        if machine.last_of_equal:
            labels = machine.n_classes - 1 - decisions[:, ::-1].argmax(axis=1)
    elif machine.break_ties:
        labels = confident_votes(machine.n_classes, decisions).argmax(axis=1)
    else:
        votes, _ = votes_of(machine.n_classes, decisions, zero_votes_first=False)
        labels = votes.argmax(axis=1)
    return labels


def votes_of(
    n_classes: int, decisions: Float64Array, zero_votes_first: bool
) -> tuple[Float64Array, Float64Array]:
    """Return votes and summed confidences, each of shape (n_queries, n_classes), float64."""
    votes = np.zeros((len(decisions), n_classes))
    confidences = np.zeros_like(votes)
    p = 0
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            f = decisions[:, p]
            first = f >= 0 if zero_votes_first else f > 0
            votes[:, i] += first
            votes[:, j] += ~first
            confidences[:, i] += f
            confidences[:, j] -= f
            p += 1
    return votes, confidences


def confident_votes(n_classes: int, decisions: Float64Array) -> Float64Array:
    """Return scikit-learn's "ovr" decision function of a one-vs-one machine.

    The result, of shape (n_queries, n_classes), is the number of votes plus the summed confidences,
    which are scaled below 1/3 in magnitude so that they only break ties.
    """
    votes, confidences = votes_of(n_classes, decisions, zero_votes_first=True)
    squashed: Float64Array = confidences / (3 * (np.abs(confidences) + 1))
    return votes + squashed
