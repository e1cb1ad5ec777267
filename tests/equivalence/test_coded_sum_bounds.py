"""Sums of other kernels over integer codes lie within their bounds of the real numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpf

from kit.fixed_sums import DIGITS, GRIDS, Case, codes_of, in_format, queries, random_machine
from kmcompile.kernels import Poly, Sigmoid
from kmcompile.lower.integer_program import IntegerTableForm
from kmcompile.program.stages import CodedSum

SEEDS = range(4)


def decisions(case: Case, row: np.ndarray) -> list[mpf]:
    """Return the real decision values of raw features or codes."""
    kernel = case.machine.kernel
    with mp.workdps(DIGITS):
        z = case.prepared(row)
        values = []
        for s in case.machine.support_vectors:
            total = mp.fdot([mpf(float(v)) for v in s], z)
            v = mpf(kernel.gamma) * total + mpf(kernel.coef0)
            values.append(v**kernel.degree if isinstance(kernel, Poly) else mp.tanh(v))
        pairs = zip(case.beta, case.machine.intercept, strict=True)
        return [mp.fdot([mpf(float(c)) for c in row], values) + mpf(float(b)) for row, b in pairs]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("grid", [grid for grid in GRIDS if grid != "offset"])
@pytest.mark.parametrize("name", ["poly", "sigmoid"])
def test_decisions_lie_within_their_bounds_of_the_real_numbers(name, grid, seed):
    machine = random_machine(seed, grid)
    raw = machine.support_vectors
    for step in machine.preprocessing:
        raw = raw / step.factor + step.offset
    raw = np.rint(raw * GRIDS[grid][2]) / GRIDS[grid][2]
    machine = replace(machine, preprocessing=(), support_vectors=raw)
    rate = 2.0 / float((machine.support_vectors**2).sum(axis=1).max())
    kernel = Poly(rate, 0.7, 3) if name == "poly" else Sigmoid(rate, -0.3)
    case = in_format(
        replace(machine, kernel=kernel), "lossless", IntegerTableForm(seed % 2 == 0, True)
    )
    assert isinstance(case.program.ends.exact, CodedSum)
    X = queries(case, 2, seed)
    for asked in (X, codes_of(case, X)):
        accepted, answers = case.answers(asked)
        assert len(accepted)
        rows = zip(accepted, answers.decisions, answers.bounds, strict=True)
        for x, found, bounds in rows:
            for f, decision, bound in zip(decisions(case, x), found, bounds, strict=True):
                assert abs(f - mpf(float(decision))) <= mpf(float(bound)), x.tolist()
