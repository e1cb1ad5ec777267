"""The error of a sum of one machine, in units of the bound that the sum states."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from mpmath import mp, mpf

from kit.exact_kernels import exact_kernel
from kmcompile.kernels import Kernel, Linear, Rbf
from kmcompile.lower.prepare import length_bound
from kmcompile.lower.sum_constants import SumContext
from kmcompile.lower.sums import lower_linear, lower_sum
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import ExactSum, LinearSum

DIGITS = 50


def machine_of(kernel: Kernel, vectors: Any, coef: Any, intercept: float = 0.0) -> KernelMachine:
    vectors = np.asarray(vectors, dtype=np.float64)
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=kernel,
        support_vectors=vectors,
        dual_coef=np.asarray(coef, dtype=np.float64).reshape(1, -1),
        intercept=np.array([intercept]),
        classes=(0, 1),
        n_features=vectors.shape[1],
    )


def stage_of(
    machine: KernelMachine, lanes: int = 4, skip_zeros: bool = False
) -> ExactSum | LinearSum:
    if isinstance(machine.kernel, Linear):
        return lower_linear(machine, lanes)
    return lower_sum(machine, lanes, SumContext(skip_zeros=skip_zeros))


def exact_decision(machine: KernelMachine, x: list[Any]) -> Any:
    total = mpf(float(machine.intercept[0]))
    for s, beta in zip(machine.support_vectors, machine.dual_coef[0], strict=True):
        value = exact_kernel(machine.kernel, [mpf(float(v)) for v in s], x)
        total += mpf(float(beta)) * value
    return total


@dataclass(frozen=True)
class Queries:
    """Prepared inputs as float32 knows them, and exactly."""

    exact: np.ndarray
    x: np.ndarray
    deviation: np.ndarray


def exactly(X: np.ndarray) -> Queries:
    x = np.asarray(X, dtype=np.float32)
    return Queries(x.astype(np.float64), x, np.zeros(len(x), dtype=np.float32))


def deviating(X: np.ndarray) -> Queries:
    """Return inputs whose float32 is off by as much as the deviation says."""
    x = np.asarray(X + 1e-3, dtype=np.float32)
    off = np.sqrt(((X - x) ** 2).sum(axis=1)) * (1 + 1e-12)
    up = np.nextafter(off.astype(np.float32), np.float32(np.inf))
    return Queries(X, x, up)


def batch_of(queries: Queries) -> Batch:
    return replace(
        Batch.of(queries.x, 1),
        deviation=queries.deviation,
        length=length_bound(queries.x.shape[1]).of(queries.x),
    )


def excess(machine: KernelMachine, stage: ExactSum | LinearSum, queries: Queries) -> float:
    """Return the largest error in units of its bound."""
    result = stage.run(batch_of(queries))
    worst = 0.0
    with mp.workdps(DIGITS):
        for row, decision, bound in zip(
            queries.exact, result.decision[:, 0], result.bound[:, 0], strict=True
        ):
            error = abs(exact_decision(machine, [mpf(float(v)) for v in row]) - float(decision))
            if error > 0:
                worst = max(worst, float(error / mpf(float(bound))) if bound else mp.inf)
    return worst


def spread(n: int, d: int, scale: float = 1.0, at: float = 0.0) -> np.ndarray:
    return at + scale * np.random.default_rng(23).normal(size=(n, d))


def sparse_rows(n: int, d: int, seed: int) -> np.ndarray:
    """Return rows of which three in ten entries are not 0, as float32 holds them."""
    rng = np.random.default_rng(seed)
    rows = np.where(rng.random((n, d)) < 0.3, rng.normal(size=(n, d)), 0.0)
    return rows.astype(np.float32).astype(np.float64)


def sparse_machine(kernel: Kernel) -> KernelMachine:
    return machine_of(kernel, sparse_rows(3, 64, seed=7), [0.8, -0.3, 1.1], 0.1)


def sparse_inputs() -> np.ndarray:
    """Return inputs at, near and far from the vectors, sparse, dense and 0."""
    vectors = sparse_machine(Rbf(0.7)).support_vectors
    rng = np.random.default_rng(8)
    near = np.repeat(vectors, 60, axis=0)
    near = near + near * rng.normal(size=near.shape) * 10.0 ** rng.uniform(-7, -1, (180, 1))
    others = sparse_rows(40, 64, seed=9) * 10.0 ** rng.uniform(-3, 3, (40, 1))
    dense = vectors + 0.05 * rng.normal(size=vectors.shape)
    return np.concatenate([vectors, near, others, dense, np.zeros((1, 64)), -vectors * 100])
