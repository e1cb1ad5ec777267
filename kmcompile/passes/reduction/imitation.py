"""Imitation: vectors and coefficients fitted to the machine's decisions on samples (eq. 11)."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from kmcompile.kernels import Kernel
from kmcompile.model.coefficients import (
    decision_coefficients,
    relevant_decisions,
    vector_classes,
    with_vectors,
)
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import evaluate
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.passes.reduction.pools import joint_pools

ITERATIONS = 100


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What a reduced machine is to say of samples.

    Parameters
    ----------
    kernel : Kernel
    points : ndarray of shape (n, n_kernel_features), float64
        The prepared samples.
    decisions : ndarray of shape (n, n_decisions), float64
        The machine's decisions, clipped to the margin.
    clear : ndarray of shape (n, n_decisions), bool
        Which decisions lie beyond the margin: more on their side is no error.
    relevant : ndarray of shape (n, n_decisions), bool
        Which decisions the label depends on; others are not looked at.
    """

    kernel: Kernel
    points: Float64Array
    decisions: Float64Array
    clear: NDArray[np.bool_]
    relevant: NDArray[np.bool_]

    @classmethod
    def of(cls, machine: KernelMachine, samples: Float32Array) -> Target:
        """Return what a machine says of samples of shape (n, n_features), float32."""
        reference = evaluate(machine, samples)
        relevant = relevant_decisions(machine, reference.labels)
        f = reference.decisions
        margin = np.inf
        if machine.task is not Task.REGRESSION:
            margin = max(float(np.median(np.abs(f[relevant]))), np.finfo(float).tiny)
        points = machine.prepare(samples.astype(np.float64))
        return cls(
            machine.kernel, points, np.clip(f, -margin, margin), np.abs(f) >= margin, relevant
        )

    def loss(
        self, Z: Float64Array, beta: Float64Array, intercept: Float64Array
    ) -> tuple[float, Float64Array, Float64Array, Float64Array]:
        """Return the mean squared error of the decisions, and its derivatives."""
        values, _ = self.kernel.fast_values(Z, self.points)
        error = values @ beta.T + intercept - self.decisions
        error[(self.clear & (error * self.decisions > 0)) | ~self.relevant] = 0.0
        unit = max(float((self.decisions[self.relevant] ** 2).sum()), np.finfo(float).tiny)
        slope = 2 * error / unit
        of_vectors = self.kernel.gradient(Z, self.points, (slope @ beta).T)
        return float((error**2).sum()) / unit, of_vectors, slope.T @ values, slope.sum(axis=0)


def imitate(
    machine: KernelMachine,
    start: KernelMachine,
    samples: Float32Array,
    iterations: int = ITERATIONS,
    moves: bool = True,
) -> KernelMachine:
    """Return a machine of as many vectors as `start` whose decisions on samples are the machine's.

    The paper's e_x (section 3.1, eq. 11) is the squared difference of the decisions on samples, of
    which |W - W^|^2 is an upper bound only. L-BFGS makes it small over vectors, coefficients and
    intercepts, with analytic gradients. For labels, decisions are clipped to their median
    magnitude, and only those that the label depends on count. No label of a sample is needed.

    Parameters
    ----------
    machine : KernelMachine
    start : KernelMachine
        A machine of fewer vectors, from a selection or a construction. Its kernel has a derivative.
    samples : ndarray of shape (n, n_features), float32
        Samples like those that the machine will see, which it was not trained on.
    iterations : int
        Most iterations of L-BFGS.
    moves : bool
        Whether vectors are moved, or only the coefficients and intercepts are changed.
    """
    target = Target.of(machine, samples)
    beta, Z, intercept = decision_coefficients(start), start.support_vectors, start.intercept
    takes_part = np.zeros_like(beta)
    for pool in joint_pools(start):
        takes_part[np.ix_(pool.decisions, pool.vectors)] = 1.0
    spread = target.points.std(axis=0)
    unit = np.where(spread > 0, spread, 0.0) * moves  # a constant feature stays what it is
    per_beta = takes_part * max(float(np.abs(beta).mean()), np.finfo(float).tiny)
    ends = np.cumsum([Z.size, beta.size])

    def split(theta: Float64Array) -> tuple[Float64Array, Float64Array, Float64Array]:
        moved, changed, b = np.split(theta, ends)
        return (
            Z + moved.reshape(Z.shape) * unit,
            beta + changed.reshape(beta.shape) * per_beta,
            intercept + b,
        )

    def loss(theta: Float64Array) -> tuple[float, Float64Array]:
        value, of_vectors, of_beta, of_intercept = target.loss(*split(theta))
        slopes = ((of_vectors * unit).ravel(), (of_beta * per_beta).ravel(), of_intercept)
        return value, np.concatenate(slopes)

    options = {"maxiter": iterations, "maxfun": 2 * iterations, "maxcor": 20}
    begin = np.zeros(ends[-1] + len(intercept))
    found = minimize(loss, begin, jac=True, method="L-BFGS-B", options=options)
    vectors, coefficients, intercepts = split(found.x)
    made = with_vectors(start, vectors, coefficients, vector_classes(start))
    return replace(made, intercept=intercepts)
