"""What each constant of a bound must at least be, worked out once more from its derivation.

From the stored tables and the trained machine, in 50 digits where kernel values take part; the
roundings are counted here, from the order of the operations, and not taken from the lowering.
"""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
from feature_derivations import additive_sum, coded_linear_sum, curve_sum, table_sum
from kernel_derivations import KERNELS, Facts
from mpmath import binomial, matrix, mp, mpf
from needed import DIGITS, TINY, Needed, gamma, holds
from polynomial_derivations import coded_polynomial_sum
from proof_derivations import local_expansion, quadratic_bounds, subspace_certificate
from sequence_derivations import bound_sequence
from taylor_derivations import taylor_polynomial

from kmcompile.kernels.exponential import ExponentialFloat32
from kmcompile.kernels.rbf import RbfFloat32
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.rounding import precision_of
from kmcompile.passes.expand_polynomial import monomials
from kmcompile.program.stages import (
    AdditiveSum,
    CurveSum,
    ExactSum,
    LinearSum,
    PairSum,
    PolynomialSum,
)
from kmcompile.program.stages.replay import Replay

__all__ = [
    "Needed",
    "additive_sum",
    "bound_sequence",
    "coded_linear_sum",
    "coded_polynomial_sum",
    "curve_sum",
    "exact_sum",
    "holds",
    "linear_sum",
    "local_expansion",
    "polynomial_sum",
    "quadratic_bounds",
    "replay",
    "subspace_certificate",
    "table_sum",
    "taylor_polynomial",
]


def _longest(stage: ExactSum | PairSum) -> tuple[int, int]:
    """Return the most roundings of a product, its own one included, and the compensated totals."""
    if isinstance(stage, PairSum):
        ends = stage.pair_ends.astype(int).ravel()
        entries = int(np.diff(ends, prepend=0).max())
        # A section, the sections, the signs.
        return 1 + (min(entries, 16) - 1) + -(-entries // 16) + 1, 0
    blocks = int(np.diff(stage.group_ends.astype(int), prepend=0).max())
    own = [p for decisions in stage.group_decisions.tolist() for p in set(decisions)]
    most = max(own.count(p) for p in own)
    # Of a block, a group, a decision; more than eight totals are added with compensation.
    return (blocks + stage.lanes + most, 0) if most <= 8 else (blocks + stage.lanes + 1, most)


def exact_sum(stage: ExactSum | PairSum, machine: KernelMachine) -> Needed:
    """Return those of the exact sum and of its kernel, in either precision."""
    kernel, precision = stage.kernel, stage.kernel.precision
    u = precision.unit_roundoff
    longest, totals = _longest(stage)
    parts = gamma(longest, u) + (gamma(totals, u) ** 2 if totals else 0.0)
    of = Facts(
        n=stage.n_features,
        error=_storage(stage, machine),
        length=float(np.sqrt((stage.vectors.astype(np.float64) ** 2).sum(axis=1)).max()),
        sum_error=(1 + parts) * (1 + _coefficient_error(stage, machine)) - 1,
        u=u,
        tiny=precision.smallest_normal,
    )
    found = {f"kernel.{name}": v for name, v in KERNELS[type(kernel)](kernel, of).items()}
    size = np.abs(decision_coefficients(machine)).sum(axis=1)
    storage = np.abs(machine.intercept - stage.intercept)
    found |= {
        "final_factor": 1 + gamma(longest + totals + 4, u),
        "result_error": 2 * u * (1 + u),
        "minimum": storage + size * kernel.absolute_error,
    }
    if isinstance(kernel, RbfFloat32 | ExponentialFloat32):
        found["trivial_bound"] = float((2 * size + storage).max())
    return found


def _storage(stage: ExactSum | PairSum, machine: KernelMachine) -> float:
    """Return the largest distance of a stored vector from the trained one next to it."""
    slots = stage.vectors.transpose(0, 2, 1).reshape(-1, stage.n_features).astype(np.float64)
    largest = 0.0
    for slot in slots:
        largest = max(largest, float(((machine.support_vectors - slot) ** 2).sum(axis=1).min()))
    return math.sqrt(largest)


def _coefficient_error(stage: ExactSum | PairSum, machine: KernelMachine) -> float:
    """Return the largest relative error of a stored coefficient: rounding keeps their order."""
    stored = stage.coefficients.astype(np.float64).ravel()
    stored, trained = (np.sort(v[v != 0]) for v in (stored, machine.dual_coef.ravel()))
    return float(np.abs((stored - trained) / trained).max())


def linear_sum(stage: LinearSum, machine: KernelMachine) -> Needed:
    """Return those of <w, x> + b, in either precision."""
    precision = precision_of(stage.result_error)
    u, n = precision.unit_roundoff, stage.n_features
    stored = stage.weights.transpose(0, 2, 1).reshape(-1, n)[: stage.n_decisions]
    stored = stored.astype(np.float64)
    with mp.workdps(DIGITS):
        beta = matrix(decision_coefficients(machine).tolist())
        left = beta * matrix(machine.support_vectors.tolist()) - matrix(stored.tolist())
        e = np.sqrt((np.array(left.tolist(), dtype=np.float64) ** 2).sum(axis=1))
    length = np.sqrt((stored**2).sum(axis=1))
    return {
        "per_length": gamma(n, u) * length + e,
        "per_deviation": length + e,
        "minimum": np.abs(machine.intercept - stage.intercept) + 2 * n * precision.smallest_normal,
        "result_error": 2 * u * (1 + u),
    }


def polynomial_sum(stage: PolynomialSum, machine: KernelMachine) -> Needed:
    """Return those of nested sums over monomials, in either precision."""
    precision = precision_of(stage.result_error)
    kernel, u, n = machine.kernel, precision.unit_roundoff, stage.n_features
    d, order = kernel.degree, monomials(n, kernel.degree)
    stored = stage.terms.transpose(0, 2, 1).reshape(-1, len(order))[: stage.n_decisions]
    size, error = np.zeros((2, stage.n_decisions, d))
    with mp.workdps(DIGITS):
        beta = decision_coefficients(machine).tolist()
        outer = [
            binomial(d, k) * mpf(kernel.coef0) ** (d - k) * mpf(kernel.gamma) ** k
            for k in range(d + 1)
        ]
        for t, factors in enumerate(order):
            k, counts = len(factors), Counter(factors).values()
            orderings = math.factorial(k) // math.prod(map(math.factorial, counts))
            powers = [
                mp.fprod(mpf(s[j]) for j in factors) for s in machine.support_vectors.tolist()
            ]
            for p, row in enumerate(beta):
                exact = outer[k] * orderings * mp.fdot(row, powers)
                size[p, k - 1] += float(stored[p, t]) ** 2 / orderings
                error[p, k - 1] += float((exact - mpf(float(stored[p, t]))) ** 2) / orderings
        constant = [
            outer[0] * mp.fsum(row) + b
            for row, b in zip(beta, machine.intercept.tolist(), strict=True)
        ]
        off = [
            float(abs(c - mpf(float(b)))) for c, b in zip(constant, stage.intercept, strict=True)
        ]
    size, error = np.sqrt(size), np.sqrt(error)
    k = np.arange(1, d + 1)
    return {
        "per_length": np.array([gamma(n + 2 * int(each), u) for each in k]) * size + error,
        "per_deviation": k * (size + error),
        "minimum": np.array(off) + 2 * n * precision.smallest_normal,
        "result_error": 2 * u * (1 + u),
    }


def replay(stage: Replay, machine: KernelMachine) -> Needed:
    """Return those of the sum in float64, and what is lost of subnormals that are read as 0."""
    sums = {
        LinearSum: linear_sum,
        PolynomialSum: polynomial_sum,
        AdditiveSum: additive_sum,
        CurveSum: curve_sum,
    }
    own = sums.get(type(stage.sum), exact_sum)
    found = {f"sum.{name}": least for name, least in own(stage.sum, machine).items()}
    return found | {"input_error": math.sqrt(stage.prepare.n_features) * (TINY - 2.0**-149)}
