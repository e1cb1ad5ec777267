"""What the bounds of Taylor polynomials must at least be, worked out once more."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from mpmath import mp, mpf
from needed import DIGITS, Needed, U, gamma

from kmcompile.kernels import Rbf
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.scalar import exp_negative
from kmcompile.program.stages import TaylorPolynomial

_DOWN = 1 - 1e-6


def taylor_polynomial(stage: TaylorPolynomial, machine: KernelMachine) -> Needed:
    """Return those of the polynomials of a binary machine, whose kernel is rbf."""
    assert isinstance(machine.kernel, Rbf)
    n, tau, scale = stage.n_features, exp_negative.RELATIVE_ERROR, machine.kernel.gamma
    g = gamma(n + 4)
    rows = np.array([_bounds(stage, machine, leaf) for leaf in range(len(stage.radius))])
    return {
        "up": 1 / math.sqrt(1 - gamma(n + 2)),
        "relative": tau / (1 - tau) + 4 * U,
        "relative_per_square": g / (1 - g) * scale / (1 - tau),
        "relative_per_reach": 2 * scale / (1 - tau),
        "result_error": 2 * U,
    } | {f"bounds[{column}]": rows[:, None, column] for column in range(rows.shape[1])}


def _monomials(n: int, degree: int) -> list[tuple[int, ...]]:
    """Return the features of each monomial, in the order of nested sums."""
    found: list[tuple[int, ...]] = []

    def below(chosen: tuple[int, ...], end: int) -> None:
        for feature in range(end):
            found.append((*chosen, feature))
            if len(chosen) + 1 < degree:
                below(found[-1], feature + 1)

    below((), n)
    return found


def _bounds(stage: TaylorPolynomial, machine: KernelMachine, leaf: int) -> list[float]:
    """Return r_1 .. r_(K + 3), d and the minimum of one centre."""
    n, degree, radius = stage.n_features, stage.degree, float(stage.radius[leaf])
    stored = stage.terms[leaf, 0].astype(np.float64)
    monomials = _monomials(n, degree)
    orders = np.array([len(chosen) for chosen in monomials])
    numbers = np.array(
        [
            math.factorial(len(chosen))
            / math.prod(math.factorial(count) for count in Counter(chosen).values())
            for chosen in monomials
        ]
    )
    centre, rate = stage.centres[stage.first_leaf + leaf].astype(np.float64), machine.kernel.gamma
    t = machine.support_vectors - centre
    c = machine.dual_coef[0] * np.exp(-rate * (t**2).sum(axis=1))
    products = np.array([np.prod(t[:, list(chosen)], axis=1) for chosen in monomials])
    sizes = np.array([(2 * rate) ** k / math.factorial(k) for k in orders])
    off = stored[1:] - (products @ c) * sizes * numbers
    per_power, moved = [], 0.0
    for k in range(1, degree + 1):
        own = orders == k
        size = math.sqrt((stored[1:][own] ** 2 / numbers[own]).sum())
        storage = math.sqrt((off[own] ** 2 / numbers[own]).sum())
        per_power.append((gamma(n + 2 * k + 1) * size + storage + k * U * size) * _DOWN)
        moved += k * size * radius ** (k - 1) * _DOWN
    norms = [_norm(t, c, rate, k) for k in range(degree + 1, degree + 12)]
    last = sum(norm * radius**power for power, norm in enumerate(norms[2:]))
    with mp.workdps(DIGITS):
        exact = mp.fsum(
            mpf(float(beta)) * mp.exp(-mpf(rate) * mp.fsum((mpf(a) - mpf(b)) ** 2 for a, b in pair))
            for beta, pair in (
                (b, zip(s.tolist(), centre.tolist(), strict=True))
                for b, s in zip(machine.dual_coef[0], machine.support_vectors, strict=True)
            )
        )
        constant = float(abs(exact - mpf(float(stored[0]))))
    return [*per_power, *(norm * _DOWN for norm in norms[:2]), last * _DOWN, moved, constant]


def _norm(t: np.ndarray, c: np.ndarray, rate: float, k: int) -> float:
    """Return the norm of order k as a matrix: all but one of its k slots against that one."""
    weighted = t * c[:, None]
    square = weighted.T @ (t @ t.T) ** (k - 1) @ weighted
    norm = math.sqrt(max(float(np.linalg.eigvalsh(square)[-1]), 0.0))
    return (2 * rate) ** k / math.factorial(k) * norm
