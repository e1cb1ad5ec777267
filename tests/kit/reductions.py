"""Small machines of every task, and reduced sets of them by dense least squares."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from kmcompile.kernels import Kernel, Poly, Rbf
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.passes.reduction.pools import Pool, joint_pools
from kmcompile.passes.reduction.selection import Selection

TASKS = tuple(Task)
KERNELS = (Rbf(0.3), Poly(0.5, 1.0, 2))


def small_machine(
    task: Task, kernel: Kernel = KERNELS[0], n: int = 9, n_features: int = 4, seed: int = 0
) -> KernelMachine:
    """Return a machine of n random vectors, in one-vs-one and one-vs-rest of three classes."""
    rng = np.random.default_rng(seed)
    rows, decisions, classes = {
        Task.BINARY: (1, 1, (0, 1)),
        Task.ONE_CLASS: (1, 1, (-1, 1)),
        Task.REGRESSION: (1, 1, ()),
        Task.ONE_VS_ONE: (2, 3, (0, 1, 2)),
        Task.ONE_VS_REST: (3, 3, (0, 1, 2)),
    }[task]
    third = n // 3
    return KernelMachine(
        kind="SVC",
        task=task,
        kernel=kernel,
        support_vectors=rng.normal(size=(n, n_features)),
        dual_coef=rng.normal(size=(rows, n)),
        intercept=rng.normal(size=decisions),
        classes=classes,
        n_features=n_features,
        class_counts=(third, third, n - 2 * third) if task is Task.ONE_VS_ONE else (),
    )


def features(machine: KernelMachine) -> np.ndarray:
    """Return phi(s_i) as rows of shape (n_sv, n_sv): the root of the Gram matrix."""
    vectors = machine.support_vectors
    values, basis = np.linalg.eigh(machine.kernel.values(vectors, vectors))
    return basis * np.sqrt(np.maximum(values, 0.0))


def least_squares(
    machine: KernelMachine, chosen: Sequence[int], pools: Sequence[Pool] | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the best coefficients (n_decisions, n) of some vectors and |W_p - W^_p|^2."""
    phi, beta = features(machine), decision_coefficients(machine)
    spread, left = np.zeros((len(beta), len(chosen))), np.zeros(len(beta))
    for pool in pools or joint_pools(machine):
        places = [t for t, vector in enumerate(chosen) if vector in pool.vectors]
        A = phi[[chosen[t] for t in places]].T
        for p in pool.decisions:
            W = phi.T @ beta[p]
            solved = np.linalg.lstsq(A, W, rcond=None)[0]
            spread[p, places] = solved
            left[p] = ((W - A @ solved) ** 2).sum()
    return spread, left


def relative_left(
    machine: KernelMachine, chosen: Sequence[int], pools: Sequence[Pool] | None = None
) -> float:
    """Return the sum of |W_p - W^_p|^2 / |W_p|^2."""
    squares = least_squares(machine, (), pools)[1]
    return float((least_squares(machine, chosen, pools)[1] / squares).sum())


def left_of(selection: Selection, n: int) -> np.ndarray:
    """Return |W_p - W^_p|^2 of the first n vectors, shape (n_decisions,).

    The values are differences: below about 1e-12 |W_p|^2 they are rounding errors.
    """
    left = selection.squares.copy()
    for basis in selection.bases:
        t = int(np.searchsorted(basis.places, n))
        left[basis.pool.decisions] -= (basis.weights[:t] ** 2).sum(axis=0)
    return np.maximum(left, 0.0)
