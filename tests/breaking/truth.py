"""The sign and the value of f in real numbers: float64 where it is sure, __float128, mpmath."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from mpmath import mpf
from multiprecision import Multiprecision
from quadruple import decisions as in_quadruple

from kmcompile.kernels import (
    AdditiveChi2,
    Chi2,
    Intersection,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    Poly,
    RationalQuadratic,
    Rbf,
    Sigmoid,
)
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import labels_of
from kmcompile.steps import (
    Affine,
    Clip,
    Extension,
    Normalization,
    PositivePart,
    Projection,
    SeenFeatures,
    Selection,
)

U = 2.0**-53
LEAST_ERROR = 1e-12
"""Relative to sum |beta K| + |b|: nearer to 0 float64 is not asked."""
QUADRUPLE_ERROR = 1e-26
"""Of __float128, relative to the same: 2^-113 with seven digits to spare for what cancels."""
SOURCES = ("float64", "float128", "mpmath")
_BLOCK_VALUES = 1 << 20


@dataclass(frozen=True, eq=False)
class Truth:
    """What is known of the decision values of some queries.

    Parameters
    ----------
    decisions, error, size : ndarray of shape (n_queries, n_decisions), float64
        f, a bound on its error and sum |beta K| + |b|.
    source : ndarray of shape (n_queries,), int8
        Index into `SOURCES`.
    """

    machine: KernelMachine
    X: np.ndarray
    decisions: np.ndarray
    error: np.ndarray
    size: np.ndarray
    source: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """Indices into the machine's classes."""
        return labels_of(self.machine, self.decisions)

    @property
    def signed(self) -> np.ndarray:
        """Which queries have known signs of all decisions."""
        return (np.abs(self.decisions) > self.error).all(axis=1)

    def chosen(self, rows: np.ndarray) -> Truth:
        """Return that of some queries."""
        parts = (getattr(self, name)[rows] for name in ("X", "decisions", "error", "size"))
        return Truth(self.machine, *parts, self.source[rows])

    def resolved(self, rows: np.ndarray) -> Truth:
        """Return the truth with some queries worked out in __float128 or, if need be, mpmath."""
        rows = np.flatnonzero(rows)
        if not len(rows):
            return self
        copies = {n: getattr(self, n).copy() for n in ("decisions", "error", "source")}
        found = in_quadruple(self.machine, self.X[rows])
        copies["decisions"][rows] = found.high
        copies["error"][rows] = np.abs(found.high) * U * 2 + QUADRUPLE_ERROR * found.size
        copies["source"][rows] = 1
        narrow = (np.abs(found.high) <= 2 * QUADRUPLE_ERROR * found.size).any(axis=1)
        real = Multiprecision(self.machine)
        for row in rows[narrow]:
            exact = real.decisions(self.X[row])
            copies["decisions"][row] = [float(f) for f in exact]
            copies["error"][row] = np.abs(copies["decisions"][row]) * U
            copies["source"][row] = 2
        return replace(self, **copies)


def evaluate(machine: KernelMachine, X: np.ndarray) -> Truth:
    """Return the truth of inputs of shape (n_queries, n_features), float32.

    Queries with a decision that float64 does not part from 0 are worked out more exactly.
    """
    rows = max(1, _BLOCK_VALUES // machine.n_support_vectors)
    parts = [_in_float64(machine, X[at : at + rows]) for at in range(0, max(len(X), 1), rows)]
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    truth = Truth(machine, X, *columns, np.zeros(len(X), dtype=np.int8))
    return truth.resolved(~truth.signed)


def _in_float64(machine: KernelMachine, X: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return decisions, bounds on their errors and sum |beta K| + |b|."""
    x, deviation = _prepared(machine, X)
    values, error = _kernels(machine, x, deviation)
    beta = decision_coefficients(machine).T
    size = np.abs(values) @ np.abs(beta) + np.abs(machine.intercept)
    rounding = error @ np.abs(beta) + (machine.n_support_vectors + 3) * U * size
    return values @ beta + machine.intercept, np.maximum(LEAST_ERROR * size, 2 * rounding), size


def _prepared(machine: KernelMachine, X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the prepared inputs and bounds on their distances from the exactly prepared ones."""
    x = X.astype(np.float64)
    deviation = np.zeros(len(x))
    for step in machine.preprocessing:
        before, n = x, x.shape[1]
        x = step.apply(x)
        length = np.sqrt((x**2).sum(axis=1))
        if isinstance(step, Affine):
            deviation = np.abs(step.factor).max() * deviation + 3 * U * length
        elif isinstance(step, Projection):
            size = np.sqrt((step.matrix**2).sum())
            entered = np.sqrt((before**2).sum(axis=1))
            deviation = size * (deviation + (n + 2) * U * entered)
        elif isinstance(step, Normalization):
            shrunk = length / np.maximum(np.sqrt((before**2).sum(axis=1)), 1e-300)
            deviation = (1 + np.sqrt(n)) * deviation * shrunk + (n + 8) * U * length
        elif not isinstance(step, Clip | PositivePart | Selection | SeenFeatures | Extension):
            raise TypeError(f"what {step} adds to a deviation is not known")
    return x, deviation


def _kernels(
    machine: KernelMachine, x: np.ndarray, deviation: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the kernel values and bounds on their errors.

    rbf: z = gamma D^2 is off by gamma (2 D e + e^2) and (n + 8) u z. matern: z = gamma D is off by
    gamma (e + (n + 8) u D). rational_quadratic: z = alpha log(1 + gamma D^2) by
    alpha sqrt(gamma) e and (n + 12) u z. The others: gamma <s, x> by
    gamma |s| ((n + 4) u |x| + e), coef0 and the sum by a few u; then the mean value theorem.
    """
    kernel, s, n = machine.kernel, machine.support_vectors, x.shape[1]
    values, added = kernel.fast_values(s, x)
    e = deviation[:, None]
    if isinstance(kernel, Rbf):
        z = -np.log(np.maximum(values, 1e-320))
        off = kernel.gamma * e * (2 * np.sqrt(z / kernel.gamma) + e) + (n + 8) * U * z
        return values, values * (np.expm1(np.minimum(off, 700.0)) + added[:, None] + 4 * U) + 1e-300
    if isinstance(kernel, Matern):
        reach = np.sqrt((x**2).sum(axis=1))[:, None] + np.sqrt((s**2).sum(axis=1))
        off = kernel.gamma * (e + (n + 8) * U * reach)  # -K'/K is at most 1
        return values, values * (np.expm1(np.minimum(off, 700.0)) + 8 * U) + 1e-300
    if isinstance(kernel, RationalQuadratic):
        z = -np.log(np.maximum(values, 1e-320))
        off = kernel.alpha * np.sqrt(kernel.gamma) * e + (n + 12) * U * z
        return values, values * (np.expm1(np.minimum(off, 700.0)) + 8 * U) + 1e-300
    if isinstance(kernel, Laplacian | Chi2 | AdditiveChi2 | Intersection):
        return values, _of_feature_sums(kernel, s, x, e, values)
    if not isinstance(kernel, Linear | Poly | Sigmoid):
        raise TypeError(f"what {kernel} may be off is not known")
    gamma, coef0 = getattr(kernel, "gamma", 1.0), getattr(kernel, "coef0", 0.0)
    lengths = np.sqrt((s**2).sum(axis=1))
    reach = np.sqrt((x**2).sum(axis=1))[:, None]
    off = gamma * lengths * ((n + 4) * U * reach + e) + 4 * U * abs(coef0)
    if isinstance(kernel, Linear):
        return values, off
    if isinstance(kernel, Poly):
        largest = np.abs(gamma * (x @ s.T) + coef0) + off
        slope = kernel.degree * largest ** max(kernel.degree - 1, 0)
        return values, slope * off + (kernel.degree + 4) * U * np.abs(values)
    return values, off + 8 * U


def _of_feature_sums(
    kernel: Kernel, s: np.ndarray, x: np.ndarray, e: np.ndarray, values: np.ndarray
) -> np.ndarray:
    """Return bounds on the errors of kernels of |s - x|_1, the chi2 sum or the sum of minima.

    A term is at most |s_j| + |x_j|, rounds by 5 u of itself and moves by at most 3 times what x_j
    does: with n features the sum is off by (n + 8) u sum (|s_j| + |x_j|) + 3 sqrt(n) e.
    """
    n = x.shape[1]
    size = np.abs(x).sum(axis=1)[:, None] + np.abs(s).sum(axis=1)
    off = (n + 8) * U * size + 3 * np.sqrt(n) * e
    if isinstance(kernel, AdditiveChi2 | Intersection):
        return np.asarray(off)
    z = kernel.parameters()["gamma"] * off
    return np.asarray(values * (np.expm1(np.minimum(z, 700.0)) + 4 * U) + 1e-300)


def agreement(machine: KernelMachine, X: np.ndarray) -> float:
    """Return how far __float128 is from mpmath, relative to sum |beta K| + |b|."""
    found = in_quadruple(machine, X)
    real = Multiprecision(machine)
    worst = 0.0
    for x, high, low, size in zip(X, found.high, found.low, found.size, strict=True):
        for f, *(h, l_, s) in zip(real.decisions(x), high, low, size, strict=True):
            worst = max(worst, float(abs(f - mpf(float(h)) - mpf(float(l_))) / mpf(float(s))))
    return worst
