"""What each constant of a subspace, of quadratic bounds and of an expansion must at least be."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mpmath import mp, mpf
from needed import DIGITS, TINY, Needed, U, gamma

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.scalar import exp_negative
from kmcompile.program.stages import (
    ExactSum,
    LocalExpansion,
    QuadraticBounds,
    SubspaceCertificate,
)


def subspace_certificate(stage: SubspaceCertificate, exact: ExactSum, kernel: Any) -> Needed:
    """Return those of the subspace certificate and of its remainder."""
    d, p, n = kernel.degree, stage.n_out, exact.n_features
    V = stage.products.matrix(n)
    seen = int(np.count_nonzero(np.abs(V).sum(axis=0)))
    frobenius, norm = float(np.linalg.norm(V)), float(np.linalg.norm(V, 2))
    zeta = gamma(seen) * frobenius
    v = norm + zeta
    used = stage.weights > 0
    beta = np.abs(exact.slot_decisions()[:, 0].astype(np.float64))[used]
    delta = beta / np.sqrt(stage.weights[used].astype(np.float64))
    scale, path = float(stage.remainder.scale), exact.n_blocks + exact.lanes + exact.n_groups
    own = _remainder(stage, exact, kernel, (V, used, delta, zeta, v))
    roundings = gamma(path + d + 4) * scale * float(np.linalg.norm(delta))
    return {f"remainder.{name}": least for name, least in own.items()} | {
        "slack": 2 * zeta * v + (gamma(p + 2) + max(0.0, 1 - norm**-2)) * v**2 + 3 * U,
        "remainder_factor": scale,
        "lost": gamma(path + 2 * d + 4) + stage.max_touched * U,
        "share_minimum": 2 * d * exact.n_slots * TINY,
        "rounding": 2 * roundings,
        "error_factor": 1 + gamma(stage.max_touched + 2),
        "moved_factor": 2 * U,
        "result_error": 2 * U,
        "minimum": float(exact.minimum[0]),
    }


def _remainder(
    stage: SubspaceCertificate, exact: ExactSum, kernel: Any, known: tuple[Any, ...]
) -> Needed:
    V, used, delta, zeta, v = known
    remainder, d, p = stage.remainder, kernel.degree, stage.n_out
    unit = float(remainder.scale) ** (1 / d)
    scale, coef0 = abs(kernel.gamma) / unit, abs(kernel.coef0) / unit
    projected = stage.vectors.transpose(0, 2, 1).reshape(-1, p).astype(np.float64)
    vectors = exact.columns().T.astype(np.float64)
    basis = np.linalg.qr(V.T)[0]
    inside = vectors @ basis
    along = float(np.sqrt(((inside - projected @ V @ basis) ** 2).sum(axis=1)).max())
    longest = float(np.sqrt((projected**2).sum(axis=1)).max())
    length = float(np.sqrt((vectors**2).sum(axis=1)).max())
    across = (vectors - inside @ basis.T)[used]
    gram = across @ across.T
    orders = np.zeros_like(remainder.orders, dtype=np.float64)
    for k in range(1, d + 1):
        values = np.linalg.eigvalsh(delta[:, None] * gram**k * delta)
        outside = scale * math.sqrt(max(values[-1], 0.0)) ** (1 / k)
        orders[k - 1, :3] = outside, np.linalg.norm(delta) ** (1 / k), math.comb(d, k)
    loose = 1 - 1e-5  # unit is known to float32
    return {
        **{f"orders[{column}]": orders[:, column] * loose for column in range(3)},
        "per_length": scale * loose * (longest * (zeta + gamma(p) * v + 3 * U * v) + along),
        "per_deviation": scale * loose * length,
        "minimum": 2 * U * coef0 * loose,
        "largest_per_length": scale * loose * longest * v,
        "largest_minimum": coef0 * loose,
    }


def quadratic_bounds(stage: QuadraticBounds, machine: KernelMachine) -> Needed:
    """Return those of quadratic bounds on a binary machine of degree 3, from its tensors."""
    S, beta, kernel = machine.support_vectors, machine.dual_coef[0], machine.kernel
    scale, coef0, n, r = kernel.gamma, kernel.coef0, stage.n_features, stage.n_levels - 1
    linear = 3 * coef0**2 * scale * (beta @ S)
    Q = 3 * coef0 * scale**2 * np.einsum("i,ia,ib->ab", beta, S, S)
    cubic = scale**3 * np.einsum("i,ia,ib,ic->abc", beta, S, S, S).reshape(n, -1)
    b = coef0**3 * math.fsum(beta) + float(machine.intercept[0])
    rows, factors = stage.rows.astype(np.float64), stage.levels[:, 0].astype(np.float64)
    values = np.linalg.eigvalsh(Q)
    order = np.argsort(-np.abs(values), kind="stable")
    behind = [np.append(values[order][level:], 0.0) for level in range(r + 1)]
    below = np.array([max(-rest) for rest in behind])
    above = np.array([max(rest) for rest in behind])
    most = max(below.max(), above.max())
    sizes = np.linalg.norm(rows, axis=1)
    zeta = gamma(n) * sizes[1:]
    w, c = sizes[1:] + zeta, np.abs(factors[1:])
    outside = 1 + float((w**2).sum())
    lost = 2 * float((zeta * w).sum()) + (2 * r + 1) * U * outside
    curved = float((c * w**2).sum()) + most * outside
    size, third = float(np.linalg.norm(linear)), float(np.linalg.norm(cubic, 2))
    return {
        "levels[1]": below * (1 - 1e-6),
        "levels[2]": above * (1 - 1e-6),
        "radii[0]": abs(b - float(stage.intercept)) + gamma(r + 3) * abs(b),
        "radii[1]": gamma(n) * size + np.linalg.norm(linear - rows[0]) + gamma(r + 3) * size,
        "radii[2]": 2 * float((c * zeta * w).sum()) + most * lost + gamma(r + 3) * curved,
        "radii[3]": third,
        "slopes[0]": size,
        "slopes[1]": 2 * float(np.abs(values).max()),
        "slopes[2]": 3 * third,
    }


def local_expansion(stage: LocalExpansion, machine: KernelMachine) -> Needed:
    """Return those of a tree of expansions of a binary machine."""
    n, tau = stage.n_features, exp_negative.RELATIVE_ERROR
    g, scale = gamma(n + 4), machine.kernel.gamma
    needed = {
        "up": 1 / math.sqrt(1 - gamma(n + 2)),
        "relative": tau / (1 - tau) + 4 * U,
        "relative_per_square": g / (1 - g) * scale / (1 - tau),
        "relative_per_reach": 2 * scale / (1 - tau),
        "result_error": 2 * U,
    }
    exact = np.array([_expansion(stage, machine, c) for c in range(stage.n_centres)])
    needed |= {f"constants[{c + 2}]": exact[:, None, c] for c in range(8)}
    return needed | (_curved(stage, machine, exact[:, None]) if stage.n_basis else {})


def _curved(stage: LocalExpansion, machine: KernelMachine, exact: np.ndarray) -> Needed:
    """Return those of the last level's second test, as far as its docstring says them.

    Left out are the second order and `t` without its rounding: attacks find the one, and the
    other is a largest eigenvalue of what only the lowering knows.
    """
    r, n = stage.basis.shape
    leaves = slice(stage.n_centres - len(stage.curved), None)
    basis = float((stage.basis.astype(np.float64) ** 2).sum())
    forms = stage.forms.astype(np.float64)
    beside = np.array([i != j for i in range(r) for j in range(i, r)])  # stored twofold
    Q, P, T = np.moveaxis(np.sqrt(np.where(beside, forms**2 / 2, forms**2).sum(axis=-1)), 2, 0)
    curvature = np.abs(stage.curved[:, :, 0].astype(np.float64))
    radius = stage.radius[leaves, None].astype(np.float64)
    length = np.sqrt((stage.weights[leaves].astype(np.float64) ** 2).sum(axis=-1))
    return {
        "curved[1]": exact[leaves, :, 0],
        "curved[3]": [[_from_order(8, stage, machine, c)] for c in range(stage.n_centres)[leaves]],
        "curved[4]": length + radius * (2 * curvature + 2 * (Q + P) * basis),
        "curved[5]": exact[leaves, :, 7],
        "curved[6]": T * basis * (2 * gamma(n + 1) + gamma(2 * r + 2) + 12 * U),
        "curved[7]": 2 * radius * T * basis,
    }


def _from_order(first: int, stage: LocalExpansion, machine: KernelMachine, centre: int) -> float:
    """Return r with order k at most norm_k |v|^k, sum norm_k |v|^k <= r |v|^first, up to R.

    norm_k^2 is the largest eigenvalue of g^2 sum_ij c_i c_j <t_i, t_j>^(k-1) t_i t_j^T,
    g = (2 gamma)^k / k!, so that it says no more than the orders themselves.
    """
    rate, radius = machine.kernel.gamma, float(stage.radius[centre])
    t = machine.support_vectors - stage.centres[centre].astype(np.float64)
    inner = t @ t.T
    c = machine.dual_coef[0] * np.exp(-rate * np.diag(inner))
    total = 0.0
    for k in range(first, first + 9):
        square = (t * c[:, None]).T @ inner ** (k - 1) @ (t * c[:, None])
        norm = math.sqrt(max(float(np.linalg.eigvalsh(square)[-1]), 0.0))
        total += (2 * rate) ** k / math.factorial(k) * norm * radius ** (k - first)
    return total * (1 - 1e-6)


def _expansion(stage: LocalExpansion, machine: KernelMachine, centre: int) -> list[float]:
    """Return r1 .. r6, d and the minimum of one centre, from its orders.

    h(v) = sum_i beta_i exp(-gamma |t_i|^2) exp(2 gamma <t_i, v>), t = s - c. Orders 3 to 6 are
    known exactly with one feature, and are left out with more.
    """
    n = stage.n_features
    weights = stage.weights[centre, 0].astype(np.float64)
    constant, m = (float(v) for v in stage.constants[centre, 0, :2])
    with mp.workdps(DIGITS):
        c = [mpf(float(v)) for v in stage.centres[centre]]
        rate = mpf(machine.kernel.gamma)
        terms = []
        for s, beta in zip(machine.support_vectors, machine.dual_coef[0], strict=True):
            t = [mpf(float(a)) - b for a, b in zip(s, c, strict=True)]
            terms.append((mpf(float(beta)) * mp.exp(-rate * mp.fdot(t, t)), t))
        first = np.array([float(mp.fsum(2 * rate * w * t[j] for w, t in terms)) for j in range(n)])
        zeroth = mp.fsum(w for w, _ in terms)
        second = np.array(
            [
                [float(mp.fsum(2 * rate**2 * w * t[i] * t[j] for w, t in terms)) for j in range(n)]
                for i in range(n)
            ]
        )
        orders = [
            float(abs(mp.fsum(w * (2 * rate * t[0]) ** k for w, t in terms))) / math.factorial(k)
            if n == 1
            else 0.0
            for k in range(3, 7)
        ]
        storage = float(abs(zeroth - mpf(constant)))
    length = float(np.linalg.norm(weights))
    reach = float(stage.radius[centre])
    return [
        gamma(n + 1) * length + float(np.linalg.norm(weights - first)),
        float(np.abs(np.linalg.eigvalsh(second - m * np.eye(n))).max()),
        *orders,
        length + 2 * reach * abs(m),
        storage,
    ]
