"""Decision values of a KernelMachine in float64, with a bound on all that rounding can do.

Two computations of the same real number, scikit-learn's and this one, differ by no more than
the bound: it follows the first-order rounding analysis of Higham, chapter 3, with constants
large enough for either order of the operations.
"""

from __future__ import annotations

import numpy as np

from kmcompile.kernels import (
    AdditiveChi2,
    Chi2,
    Fourier,
    Intersection,
    Laplacian,
    Linear,
    Poly,
    Rbf,
    Sigmoid,
)
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.steps import (
    Affine,
    Clip,
    Extension,
    Normalization,
    Projection,
    Selection,
)

U = 2.0**-53


def decisions_and_bounds(machine: KernelMachine, X):
    """Return the decision values and their error bounds, both (n_queries, n_decisions)."""
    x, error = _prepared(machine, np.asarray(X, dtype=np.float64))
    s = machine.support_vectors
    values = machine.kernel.values(s, x)
    kernel_error = _kernel_error(machine, s, x, error, values)
    coefficients = pair_coefficients(machine)
    sum_error = (machine.n_support_vectors + 8) * U
    bounds = (kernel_error + sum_error * np.abs(values)) @ np.abs(coefficients).T
    bounds += sum_error * np.abs(machine.intercept)
    return values @ coefficients.T + machine.intercept, 2 * bounds


def pair_coefficients(machine: KernelMachine):
    """Return a row of coefficients for every decision."""
    if machine.task is not Task.ONE_VS_ONE:
        return machine.dual_coef
    ends = np.cumsum(machine.class_counts)
    parts = [slice(e - n, e) for e, n in zip(ends, machine.class_counts, strict=True)]
    rows = []
    for i in range(machine.n_classes):
        for j in range(i + 1, machine.n_classes):
            row = np.zeros(machine.n_support_vectors)
            row[parts[i]] = machine.dual_coef[j - 1, parts[i]]
            row[parts[j]] = machine.dual_coef[i, parts[j]]
            rows.append(row)
    return np.array(rows)


def labels(machine: KernelMachine, decisions):
    """Return the labels by scikit-learn's rules, ties between votes to the lower index."""
    classes = np.array(machine.classes)
    if machine.task.has_one_sign:
        f = decisions[:, 0]
        return classes[((f >= 0) if machine.zero_is_positive else (f > 0)).astype(int)]
    if machine.task is Task.ONE_VS_REST:
        return classes[decisions.argmax(axis=1)]
    votes, pair = np.zeros((len(decisions), machine.n_classes)), 0
    for i in range(machine.n_classes):
        for j in range(i + 1, machine.n_classes):
            votes[:, i] += decisions[:, pair] > 0
            votes[:, j] += decisions[:, pair] <= 0
            pair += 1
    return classes[votes.argmax(axis=1)]


def _prepared(machine, x):
    """Return the preprocessed rows and elementwise bounds on their error."""
    error = np.zeros_like(x)
    for step in machine.preprocessing:
        n = (x.shape[1] + 16) * U
        if isinstance(step, Affine):
            factor = np.abs(step.factor)
            error = (error + n * (np.abs(x) + np.abs(step.offset))) * factor
        elif isinstance(step, Projection):
            error = (error + n * np.abs(x)) @ np.abs(step.matrix).T
        elif isinstance(step, Normalization):
            size = np.abs(x).max(axis=1, keepdims=True)
            total = error.sum(axis=1, keepdims=True) + n * np.abs(x).sum(axis=1, keepdims=True)
            error = np.broadcast_to(2 * total / np.where(size == 0, 1, size), x.shape)
        elif isinstance(step, Selection):
            error = step.apply(error)
        elif isinstance(step, Extension):
            error = np.hstack([error, np.zeros((len(error), 1))])
        else:
            assert isinstance(step, Clip)
        x = step.apply(x)
    return x, error


def _kernel_error(machine, s, x, error, values):
    n = (s.shape[1] + 8) * U
    kernel = machine.kernel
    if isinstance(kernel, Rbf):
        distance = np.zeros_like(values)
        for j in range(s.shape[1]):
            difference = np.abs(x[:, j : j + 1] - s[:, j])
            e = error[:, j : j + 1]
            distance += (2 * difference + e) * e + n * difference**2
        return values * (2 * kernel.gamma * distance + 8 * U)
    if isinstance(kernel, Laplacian | Chi2 | AdditiveChi2 | Intersection):
        return _feature_sum_error(kernel, s, x, error, values)
    size, inner = np.abs(x) @ np.abs(s).T, error @ np.abs(s).T
    inner += n * size
    if isinstance(kernel, Linear):
        return inner
    if isinstance(kernel, Fourier):
        return inner + 8 * U
    base = kernel.gamma * size + abs(kernel.coef0)
    base_error = kernel.gamma * inner + 8 * U * base
    if isinstance(kernel, Poly):
        d = kernel.degree
        return d * (base + base_error) ** max(d - 1, 0) * base_error + (d + 8) * U * base**d
    assert isinstance(kernel, Sigmoid)
    return base_error + 8 * U


def _feature_sum_error(kernel, s, x, error, values):
    """Return that of sums of |s - x|, (s - x)^2 / (s + x) or min(s, x): slopes are 1, 3 and 1."""
    n = (s.shape[1] + 16) * U
    slope = 3 if isinstance(kernel, Chi2 | AdditiveChi2) else 1
    total = np.zeros_like(values)
    for j in range(s.shape[1]):
        a, b = x[:, j : j + 1], s[:, j]
        total += slope * error[:, j : j + 1] + n * np.maximum(np.abs(a), np.abs(b))
    if isinstance(kernel, AdditiveChi2 | Intersection):
        return total
    return values * (kernel.gamma * total + 8 * U)
