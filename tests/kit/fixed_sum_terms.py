"""Least values of the constants of a sum in integers, derived independently of the lowering.

This module counts the roundings itself, from the order of the operations.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from mpmath import mp, mpf

from kit.fixed_sums import DIGITS, Case
from kmcompile.numeric.scalar import exp2_fixed
from kmcompile.program.stages import FixedSum

TERMS = ("value_error", "result_error", "per_deviation", "minimum")
"""The fields that are terms of the bound."""

VALUES = (
    "codes",
    "per_unit",
    "kernel",
    "n_vectors",
    "lanes",
    "distance_shift",
    "multiplier",
    "product_shift",
    "cutoff",
    "coefficients",
    "group_ends",
    "group_rows",
    "start",
    "result_shift",
    "result_scale",
)
"""The fields that are values of the computation."""

TOP = 1 << exp2_fixed.RESULT_BITS


def needed(case: Case, stage: FixedSum) -> dict[str, np.ndarray]:
    """Return the least value of every term.

    W and V are the machine as trained and the stored one, of the points that its codes stand for.
    """
    with mp.workdps(DIGITS):
        step = mpf(float(stage.result_scale)) * mpf(2) ** (31 - stage.result_shift)
        gram = _gram(case, stage)
        root = mp.sqrt(2 * mpf(case.machine.kernel.gamma)) / case.factor
        unit = step / TOP
        per_deviation, minimum = [], []
        for trained, whole in zip(case.beta, _coefficients(stage), strict=True):
            stored = [int(c) * step for c in whole]
            W_and_V = [*(mpf(float(beta)) for beta in trained), *(-c for c in stored)]
            V = [*(mpf(0) for _ in trained), *stored]
            size = mp.fsum(abs(c) for c in stored)
            rounded = size / TOP + unit / 2 + unit * 2**stage.result_shift
            minimum.append(float(_length(gram, W_and_V) + rounded))
            per_deviation.append(float(_length(gram, V) * root))
    return {
        "value_error": np.array(_relative_error(case, stage)),
        "result_error": np.array(2.0**-23),
        "per_deviation": np.array(per_deviation),
        "minimum": np.array(minimum),
    }


def _coefficients(stage: FixedSum) -> np.ndarray:
    """Return the stored coefficients in steps, with their signs, (n_decisions, n_slots)."""
    stored = stage.coefficients.transpose(0, 2, 1).reshape(stage.n_slots, stage.n_rows)
    found = np.zeros((stage.n_decisions, stage.n_slots), dtype=np.int64)
    first = 0
    for block, rows in zip(stage.group_ends, stage.group_rows, strict=True):
        own = slice(first, int(block) * stage.lanes)
        for row, coded in enumerate(rows):
            found[coded // 2, own] += (1 - 2 * int(coded % 2)) * stored[own, row].astype(np.int64)
        first = own.stop
    return found


def _gram(case: Case, stage: FixedSum) -> Any:
    """Return the kernels between trained vectors, then stored ones."""
    codes = np.zeros((stage.n_slots, stage.n_features), dtype=np.int64)
    codes[:, stage.codes.columns] = stage.codes.codes
    points = [[mpf(float(v)) for v in s] for s in case.machine.support_vectors]
    points += [case.prepared(row) for row in codes]
    gram = mp.matrix(len(points))
    for i, x in enumerate(points):
        for j, y in enumerate(points[: i + 1]):
            square = mp.fsum((v - w) ** 2 for v, w in zip(x, y, strict=True))
            gram[i, j] = gram[j, i] = mp.exp(-mpf(case.machine.kernel.gamma) * square)
    return gram


def _length(gram: Any, weights: list[Any]) -> Any:
    column = mp.matrix(weights)
    return mp.sqrt(max((column.T * gram * column)[0], 0))


def _relative_error(case: Case, stage: FixedSum) -> float:
    """Return the relative error of a kernel value: t is cut, and so is the distance."""
    rate = case.coded.machine.kernel.gamma * case.coded.unit**2 / math.log(2)
    cut = 2.0**-26 + rate * (2.0**stage.distance_shift - 1)
    return math.expm1(cut * math.log(2)) + 0.95 * exp2_fixed.RELATIVE_ERROR
