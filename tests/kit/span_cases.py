"""Machines that the tests of bounds are about, on real data and small."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np
from sklearn.datasets import load_breast_cancer, load_digits, make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from kmcompile import readers
from kmcompile.exits.certified.vectors.span import LEAST_PIVOT, Span
from kmcompile.kernels import Kernel, Linear, Poly, Rbf
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.normals import Normals
from kmcompile.passes import run_passes

KERNELS: tuple[Kernel, ...] = (Rbf(0.3), Poly(0.4, 1.0, 3), Poly(0.5, 0.0, 2), Linear())


@dataclass(frozen=True, eq=False)
class Case:
    """A machine after the passes, with samples it has not seen, raw and prepared."""

    machine: KernelMachine
    raw: np.ndarray
    X: np.ndarray

    @property
    def f(self) -> np.ndarray:
        """The decision values of X, shape (n_samples, n_decisions)."""
        machine = self.machine
        values = machine.kernel.values(machine.support_vectors, self.X)
        return values @ decision_coefficients(machine).T + machine.intercept

    @property
    def magnitude(self) -> float:
        """The largest sum |beta K| + |b| of a sample."""
        machine = self.machine
        values = np.abs(machine.kernel.values(machine.support_vectors, self.X))
        sums = values @ np.abs(decision_coefficients(machine)).T + np.abs(machine.intercept)
        return float(sums.max())


def _moons() -> tuple[object, np.ndarray]:
    X, y = make_moons(600, noise=0.25, random_state=0)
    return SVC(gamma=2.0, C=10).fit(X[:400], y[:400]), X[400:]


def _narrow() -> tuple[object, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC(gamma=1.0, C=10))
    return model.fit(X[:200], y[:200]), X[400:]


def _breast_cancer() -> tuple[object, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC(gamma=0.01, C=10))
    return model.fit(X[:400], y[:400]), X[400:]


def _digits() -> tuple[object, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    pair = np.isin(y, (3, 8))
    X, y = X[pair] / 16, y[pair]
    return SVC(kernel="poly", degree=3, gamma=0.1, coef0=1.0).fit(X[:200], y[:200]), X[200:]


def _three_digits() -> tuple[object, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    three = y < 3
    X, y = X[three] / 16, y[three]
    return SVC(gamma=0.2).fit(X[:300], y[:300]), X[300:]


DATA: dict[str, Callable[[], tuple[object, np.ndarray]]] = {
    "moons": _moons,
    "breast_cancer": _breast_cancer,
    "digits_3_8": _digits,
    "digits_0_1_2": _three_digits,
}


OTHERS: dict[str, Callable[[], tuple[object, np.ndarray]]] = {"narrow": _narrow}


@cache
def case(name: str) -> Case:
    """Return a fitted machine of `DATA` or `OTHERS`."""
    model, raw = (DATA | OTHERS)[name]()
    machine = run_passes(readers.load_model(model))
    raw = raw.astype(np.float32)
    return Case(machine, raw, machine.prepare(raw.astype(np.float64)))


def random_machine(kernel: Kernel, n_sv: int = 12, n_features: int = 3) -> KernelMachine:
    """Return a binary machine of random vectors, both classes of equal weight."""
    rng = np.random.default_rng(5)
    beta = np.where(np.arange(n_sv) % 2 == 0, 1.0, -1.0) * rng.uniform(0.2, 1.0, n_sv)
    beta[beta > 0] *= -beta[beta < 0].sum() / beta[beta > 0].sum()
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=kernel,
        support_vectors=rng.normal(size=(n_sv, n_features)),
        dual_coef=beta[None],
        intercept=np.array([0.1]),
        classes=(0, 1),
        n_features=n_features,
    )


def central_difference(function: Callable[[np.ndarray], float], at: np.ndarray) -> np.ndarray:
    """Return the gradient by central differences, of error about step^2 = 1e-8 relative."""
    step, result = 1e-4, np.zeros(at.size)
    for i in range(at.size):
        moved = np.zeros(at.size)
        moved[i] = step
        ahead, behind = (function(at + s * moved.reshape(at.shape)) for s in (1.0, -1.0))
        result[i] = (ahead - behind) / (2 * step)
    return result.reshape(at.shape)


def residuals(span: Span) -> np.ndarray:
    """Return |W_p - proj W_p|^2 / |W_p|^2 after each vector, shape (k, n_decisions)."""
    return 1 - np.cumsum(span.weights**2, axis=0) / span.normals.squares


def span_of(normals: Normals, vectors: np.ndarray) -> Span:
    """Return the span of the vectors, without vectors nearly in the span of earlier ones."""
    span = Span.empty(normals)
    for z in vectors:
        if span.pivot(z) > LEAST_PIVOT:
            span = span.extended(z)
    return span
