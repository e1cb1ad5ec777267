"""Machines with the made-up kernel and step; only to be made where both are registered."""

from __future__ import annotations

import numpy as np
from sklearn.svm import SVC

from kit.additions.cauchy import Cauchy
from kit.additions.cube import Cube
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.steps import Affine, Selection, Step

N_FEATURES = 5
KERNEL = Cauchy(0.3)


def samples(n: int = 120, seed: int = 7) -> tuple[np.ndarray, np.ndarray]:
    """Return inputs of shape (n, 5), float32, around 3, and the labels 0 and 1."""
    X = np.random.default_rng(seed).normal(3.0, 2.0, size=(n, N_FEATURES)).astype(np.float32)
    return X, (((X - 3.0) ** 3).sum(axis=1) > 1.0).astype(int)


def chain() -> tuple[Step, ...]:
    """Return a scaler, a permutation, which Cube does not let through, Cube and a scaler."""
    return (
        Affine(np.full(N_FEATURES, 3.0), np.full(N_FEATURES, 0.4)),
        Selection((2, 0, 1, 4, 3), N_FEATURES),
        Cube(N_FEATURES),
        Affine(np.zeros(N_FEATURES), np.full(N_FEATURES, 0.9)),
    )


def machine(steps: tuple[Step, ...] | None = None) -> KernelMachine:
    """Return a trained machine of two classes."""
    steps = chain() if steps is None else steps
    X, y = samples()
    prepared = X.astype(np.float64)
    for step in steps:
        prepared = step.apply(prepared)
    fitted = SVC(kernel="precomputed").fit(KERNEL.values(prepared, prepared), y)
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=KERNEL,
        support_vectors=prepared[fitted.support_],
        dual_coef=fitted.dual_coef_,
        intercept=fitted.intercept_,
        classes=(0, 1),
        n_features=N_FEATURES,
        preprocessing=steps,
    )
