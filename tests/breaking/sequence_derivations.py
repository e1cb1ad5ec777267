"""What each constant of a bound sequence and of its reach must at least be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mpmath import matrix, mp, mpf
from needed import DIGITS, TINY, Needed, U, gamma

from kmcompile.kernels import Kernel, Laplacian, Matern, Poly, RationalQuadratic, Rbf
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.scalar import exp_negative, power
from kmcompile.program.stages import (
    BoundSequence,
)


def bound_sequence(stage: BoundSequence, machine: KernelMachine) -> Needed:
    """Return those of the bound sequence; its docstring names them."""
    with mp.workdps(DIGITS):
        found = _sequence(stage, machine)
    of_kernels: dict[type[Kernel], Any] = {Rbf: _rbf_reach, Poly: _poly_reach}
    of_kernels |= {Laplacian: _laplacian_reach, Matern: _matern_reach}
    of_kernels |= {RationalQuadratic: _rational_reach}
    reach = of_kernels[type(machine.kernel)]
    return found | {f"reach.{name}": least for name, least in reach(stage, machine).items()}


def _sequence(stage: BoundSequence, machine: KernelMachine) -> Needed:
    lanes, n = stage.lanes, stage.n_blocks * stage.lanes
    z = stage.vectors.transpose(0, 2, 1).reshape(n, -1).astype(np.float64)
    A = _triangle(stage)
    n = int((np.diag(A) != 0).sum())  # the rest fill the last block
    z, A = z[:n], A[:n, :n]
    s, beta = machine.support_vectors, decision_coefficients(machine)
    G, H, K = (_kernels(machine, *pair) for pair in ((z, z), (z, s), (s, s)))
    scale = np.sqrt(np.array([float(G[i, i]) for i in range(n)]))
    magnitude = np.abs(A)
    path = lanes * (np.arange(n) // lanes + 1)
    g = np.array([gamma(int(k)) for k in path])
    rows, reaches = magnitude.sum(axis=1), magnitude @ scale
    A_mp = matrix(A.tolist())
    largest = float(max(mp.eigsy(A_mp * G * A_mp.T, eigvals_only=True)))
    weights = stage.weights.transpose(1, 0, 2).reshape(stage.n_decisions, -1)[:, :n]
    residual, per_error, per_reach = (np.zeros((stage.n_blocks, len(beta))) for _ in range(3))
    for block in range(stage.n_blocks):
        k = min(n, lanes * (block + 1))
        for p in range(len(beta)):
            w = np.abs(weights[p, :k]).astype(np.float64)
            c = matrix(weights[p, None, :k].astype(float).tolist()) * A_mp[:k, :k]
            residual[block, p], inside = _rest(G[:k, :k], H[:k, :], K, c, beta[p])
            sizes = [abs(float(value)) for value in c]
            per_error[block, p] = sum(sizes) + w @ (g * rows)[:k]
            own = gamma(k + 1) * np.sqrt((w**2).sum() * largest)
            per_reach[block, p] = w @ (g * reaches)[:k] + inside + own
    errors = np.zeros((2, stage.n_blocks * lanes))
    errors[:, :n] = (1 + g) * rows, g * reaches
    b = machine.intercept
    return {
        "row_error": errors.reshape(2, stage.n_blocks, lanes).transpose(1, 0, 2),
        "residual": residual,
        "per_error": per_error,
        "per_reach": per_reach,
        "minimum": np.abs(b - b.astype(np.float32)) + gamma(n + 2) * np.abs(b),
        "shrink": (1 - gamma(n + 2)) / largest,
        "slack": 3 * U,
        "result_error": 2 * U * (1 + U),
    }


def _triangle(stage: BoundSequence) -> np.ndarray:
    n, lanes = stage.n_blocks * stage.lanes, stage.lanes
    A, at = np.zeros((n, n)), 0
    for block in range(stage.n_blocks):
        known = lanes * (block + 1)
        rows = stage.triangle[at : at + known * lanes].reshape(known, lanes).T
        A[lanes * block : known, :known] = rows
        at += known * lanes
    return A


def _kernels(machine: KernelMachine, a: np.ndarray, b: np.ndarray) -> Any:
    kernel = machine.kernel
    found = matrix(len(a), len(b))
    rows, columns = ([[mpf(v) for v in row] for row in part.tolist()] for part in (a, b))
    for i, x in enumerate(rows):
        for j, y in enumerate(columns):
            if isinstance(kernel, Rbf):
                total = mp.fsum((v - w) ** 2 for v, w in zip(x, y, strict=True))
                found[i, j] = mp.exp(-mpf(kernel.gamma) * total)
            elif isinstance(kernel, Matern):
                total = mp.fsum((v - w) ** 2 for v, w in zip(x, y, strict=True))
                t = mpf(kernel.gamma) * mp.sqrt(total)
                found[i, j] = (1, 1 + t, 1 + t + t * t / 3)[kernel.degree] * mp.exp(-t)
            elif isinstance(kernel, RationalQuadratic):
                total = mp.fsum((v - w) ** 2 for v, w in zip(x, y, strict=True))
                found[i, j] = (1 + mpf(kernel.gamma) * total) ** -mpf(kernel.alpha)
            elif isinstance(kernel, Laplacian):
                total = mp.fsum(abs(v - w) for v, w in zip(x, y, strict=True))
                found[i, j] = mp.exp(-mpf(kernel.gamma) * total)
            else:
                v = mpf(kernel.gamma) * mp.fdot(x, y) + mpf(kernel.coef0)
                found[i, j] = v**kernel.degree
    return found


def _rest(G: Any, H: Any, K: Any, c: Any, beta: np.ndarray) -> tuple[float, float]:
    """Return |r| and the norm of its part in the span, r = W - sum c_l phi(z_l)."""
    beta = matrix(beta.tolist())
    h = H * beta
    square = (beta.T * K * beta)[0] - 2 * (c * h)[0] + (c * G * c.T)[0]
    left = h - G * c.T
    inside = (left.T * mp.lu_solve(G, left))[0]
    return float(mp.sqrt(max(square, 0))), float(mp.sqrt(max(inside, 0)))


def _rbf_reach(stage: BoundSequence, machine: KernelMachine) -> Needed:
    """Return those of `RbfReach`: `shift` and the others say which balance t they are for."""
    n, tau = stage.n_features, exp_negative.RELATIVE_ERROR
    g = gamma(2 if stage.expands else n + 4)
    scale = machine.kernel.gamma
    t = 1 / max(float(stage.reach.shift) * (1 - tau) / scale - 1, 1e-30)
    z_error = (g + t) / (1 - g) / (1 - tau) * (1 - 2.0**-17)
    widest = float(stage.reach.per_z) * math.e / (1 + tau)
    least_t = max(widest * (1 - g) * (1 - tau) - g, 1e-30)
    own = {"shift_minimum": scale * 4 * n * TINY + 4 * TINY}
    if stage.expands:  # all n features nonzero
        longest = _longest_z(stage)
        own = {
            "shift_minimum": scale * gamma(4) * longest**2,
            "per_reach": scale * gamma(n + 2) / (n + 2),
            "twice_length": 2 * longest,
        }
    return own | {
        "shift": scale * (1 + 1 / least_t) * (1 - 2.0**-12),
        "widest": z_error * float(exp_negative.CUTOFF),
        "per_z": z_error * (1 + tau) / math.e,
        "value_error": tau / (1 - tau) + math.exp(1 - float(exp_negative.CUTOFF)),
    }


def _laplacian_reach(stage: BoundSequence, machine: KernelMachine) -> Needed:
    """Return those of `ExponentialReach` for the laplacian kernel: a term has 1 rounding."""
    n, tau = stage.n_features, exp_negative.RELATIVE_ERROR
    z_error = gamma(n + 2) / (1 - gamma(n + 2)) / (1 - tau)
    return {
        "slope": machine.kernel.gamma * math.sqrt(n),
        "shift_minimum": 2 * (machine.kernel.gamma * 2 * n + 1) * TINY,
        "widest": z_error * float(exp_negative.CUTOFF),
        "per_z": z_error * (1 + tau) / math.e,
        "value_error": tau / (1 - tau) + math.exp(1 - float(exp_negative.CUTOFF)),
    }


def _matern_reach(stage: BoundSequence, machine: KernelMachine) -> Needed:
    """Return those of `MaternReach`: z K is at most 0.83996 and 1.17917 for degree 1 and 2."""
    n, kernel, cutoff = stage.n_features, machine.kernel, float(exp_negative.CUTOFF)
    tau = exp_negative.RELATIVE_ERROR + (0, 1, 3)[kernel.degree] * U
    z_error = gamma(n + 2) / 2 + 3 * U
    at_cutoff = (1, cutoff, cutoff**2 / 3)[kernel.degree] * math.exp(1 - cutoff)
    return {
        "slope": kernel.gamma,
        "shift_minimum": 2 * kernel.gamma * math.sqrt(2 * n * TINY),
        "widest": z_error * cutoff,
        "per_z": z_error * (1 + tau) * (1 / math.e, 0.83996, 1.17917)[kernel.degree],
        "value_error": tau / (1 - tau) + at_cutoff,
    }


def _rational_reach(stage: BoundSequence, machine: KernelMachine) -> Needed:
    """Return those of `ExponentialReach` for z = alpha log(1 + gamma D^2); the log has 2.9 u."""
    n, kernel, tau = stage.n_features, machine.kernel, exp_negative.RELATIVE_ERROR
    z_error = gamma(n + 6) + 2.9 * U
    d = np.linspace(0, 2, 4000) / math.sqrt(kernel.gamma * (2 * kernel.alpha + 1))
    w = 1 + kernel.gamma * d * d
    return {
        "slope": float((2 * kernel.alpha * kernel.gamma * d * w ** (-kernel.alpha - 1)).max()),
        "shift_minimum": 2 * (kernel.alpha * (2 * kernel.gamma * n + 1) + 1) * TINY,
        "widest": z_error * float(exp_negative.CUTOFF),
        "per_z": z_error * (1 + tau) / math.e,
        "value_error": tau / (1 - tau) + math.exp(1 - float(exp_negative.CUTOFF)),
    }


def _longest_z(stage: BoundSequence) -> float:
    """Return the largest |z|."""
    return float(np.sqrt((stage.vectors.astype(np.float64) ** 2).sum(axis=1)).max())


def _poly_reach(stage: BoundSequence, machine: KernelMachine) -> Needed:
    """Return those of `PolyReach`: K(x, x) loses 4 p roundings, the error 5 p + 8."""
    kernel, n = machine.kernel, stage.n_features
    p = kernel.degree
    length = _longest_z(stage)
    scale = kernel.gamma
    return {
        "gamma": scale,
        "coef0": kernel.coef0,
        "longest": length,
        "up": 1 + gamma(5 * p + 8),
        "per_length": scale * (gamma(n) + 3 * U) * length,
        "per_deviation": scale * length,
        "minimum": 2 * U * kernel.coef0,
        "slope": p,
        "value_error": power.relative_error(p),
    }
