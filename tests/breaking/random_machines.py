"""Machines that nobody trained: scales, coefficients and kernels at random."""

from __future__ import annotations

import numpy as np

from kmcompile.kernels import Kernel, Poly, Rbf, Sigmoid
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.steps import Affine, Normalization, Step


def random_machine(seed: int) -> tuple[KernelMachine, np.ndarray]:
    """Return a binary machine and inputs of its kind, float32.

    Of up to 40 vectors, near and far from 0, tiny and large, some of them nearly the same; with
    coefficients of one size or of many.
    """
    rng = np.random.default_rng(seed)
    d, m = int(rng.choice([1, 2, 3, 5, 8])), int(rng.choice([3, 8, 20, 40]))
    size = 10.0 ** rng.choice([-8, -3, 0, 0, 0, 2, 6])
    middle = size * rng.choice([0, 0, 1, 100])
    X = middle + size * rng.normal(size=(m, d))
    if rng.random() < 0.3:
        X[m // 2 :] = X[: m - m // 2] * (1 + rng.choice([0, 1e-7, 1e-4]))
    beta = rng.normal(size=m) * 10.0 ** rng.uniform(-rng.choice([0, 3, 20]), 0, size=m)
    beta *= 10.0 ** rng.choice([-6, 0, 4])
    steps, prepared = _steps(rng, X, middle, size)
    kernel = _kernel(rng, np.abs(prepared).max())
    decisions = kernel.values(prepared, prepared) @ beta
    machine = KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=kernel,
        support_vectors=prepared,
        dual_coef=beta[None],
        intercept=np.array([-float(np.median(decisions)) * float(rng.choice([0, 1, 1]))]),
        classes=(0, 1),
        n_features=d,
        preprocessing=steps,
    )
    mixed = (X[rng.integers(m, size=300)] + X[rng.integers(m, size=300)]) / 2
    mixed += size * rng.normal(size=(300, d)) * rng.choice([0, 0.1, 1])
    return machine, np.concatenate([mixed, X]).astype(np.float32)


def _steps(
    rng: np.random.Generator, X: np.ndarray, middle: float, size: float
) -> tuple[tuple[Step, ...], np.ndarray]:
    d = X.shape[1]
    kind = rng.choice(["none", "affine", "l2"])
    steps: tuple[Step, ...] = ()
    if kind == "affine":
        offset = middle + size * rng.normal(size=d)
        steps = (Affine(offset, np.exp(rng.normal(size=d)) / size),)
    elif kind == "l2" and d > 1:
        steps = (Normalization("l2", d),)
    return steps, steps[0].apply(X) if steps else X


def _kernel(rng: np.random.Generator, scale: float) -> Kernel:
    gamma = float(10.0 ** rng.uniform(-2, 1.5) / scale**2)
    kind = rng.choice(["rbf", "poly", "sigmoid"])
    if kind == "rbf":
        return Rbf(gamma)
    if kind == "poly":
        return Poly(gamma, float(rng.choice([0, 0.3, 1, -0.5])), int(rng.integers(1, 10)))
    return Sigmoid(gamma * float(rng.choice([1, -1])), float(rng.normal()))
