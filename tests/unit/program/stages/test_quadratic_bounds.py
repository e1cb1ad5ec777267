"""Quadratic bounds: their intervals hold f wherever an input lies, whatever level decides."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpf

from kit import catalogue, quadratics
from kmcompile.kernels import Poly, Sigmoid
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Status, classify, prepared

CASES = pytest.mark.parametrize("case", quadratics.CORE, ids=str)


def emitted_of(case):
    return catalogue.emitted(case, "host")


def hard_inputs(emitted) -> np.ndarray:
    """Return inputs near f = 0, at 0, tiny, far away, and along the directions of the squares."""
    few = emitted.queries[:40]
    scales = np.float32([1e-44, 1e-30, 1e-18, 1e-6, 30.0, 1e4, 1e9])
    f = evaluate(emitted.machine, few).decisions[:, 0]
    above, below = few[f > 0][:15], few[f <= 0][:15]
    n = min(len(above), len(below))
    between = [above[:n] + np.float32(t) * (below[:n] - above[:n]) for t in np.linspace(0, 1, 20)]
    along = _undone(emitted, quadratics.stage_of(emitted.program).rows.astype(np.float64))
    parts = [0 * few[:1], -few, *(few * scale for scale in scales), *between]
    return np.concatenate([*parts, *(along * scale for scale in (-3.0, 1.0, 30.0))]).astype(
        np.float32
    )


def _undone(emitted, rows: np.ndarray) -> np.ndarray:
    """Return raw inputs that the preprocessing maps nearly to these rows."""
    for step in reversed(emitted.machine.preprocessing):
        rows = step.undo(rows)
    return rows


def check_intervals(emitted, X: np.ndarray) -> np.ndarray:
    """Check intervals and labels of the accepted inputs; return the results."""
    results, _ = classify(emitted.program, X)
    accepted = results["status"] == Status.OK
    reference = evaluate(emitted.machine, X[accepted])
    f, error = reference.decisions[:, 0], reference.error[:, 0]
    answered = results[accepted]
    assert (answered["lower"] <= f + error).all()
    assert (answered["upper"] >= f - error).all()
    sure = answered["certified"] & (np.abs(f) > error)
    assert (answered["label"][sure] == reference.labels[sure]).all()
    return answered


@CASES
def test_intervals_hold_the_decision(case):
    emitted = emitted_of(case)
    answered = check_intervals(emitted, emitted.queries)
    early = answered["stage"] == 0
    assert early.any()
    assert answered["certified"][early].all()
    assert (answered["kernel_evals"][early] == 0).all()


@CASES
def test_intervals_hold_the_decision_of_hard_inputs(case):
    emitted = emitted_of(case)
    assert len(check_intervals(emitted, hard_inputs(emitted))) > 100


@CASES
def test_intervals_hold_the_decision_in_50_digits(case):
    """Of the stage alone, decided or not, for prepared inputs with a deviation that is used up."""
    emitted = emitted_of(case)
    stage, machine = quadratics.stage_of(emitted.program), emitted.machine
    _, batch = prepared(emitted.program, hard_inputs(emitted))
    rows = np.random.default_rng(1).permutation(len(batch))[:12]
    batch = batch.chosen(rows)
    moved = _moved(machine, batch)
    answered, _ = stage.decide(batch, emitted.program.ends)
    for x, low, high in zip(moved, answered.least[:, 0], answered.most[:, 0], strict=True):
        assert mpf(float(low)) <= exact_decision(machine, x) <= mpf(float(high))


def _moved(machine: KernelMachine, batch: Batch) -> np.ndarray:
    """Return prepared inputs, moved by their deviation along the slope of f."""
    kernel, x = machine.kernel, batch.x.astype(np.float64)
    u = kernel.gamma * x @ machine.support_vectors.T + kernel.coef0
    inner = np.cosh(np.clip(u, -300, 300)) ** -2.0
    if isinstance(kernel, Poly):
        inner = u ** (kernel.degree - 1)
    slopes = (inner * machine.dual_coef[0]) @ machine.support_vectors
    lengths = np.maximum(np.linalg.norm(slopes, axis=1), 1e-300)
    return x + 0.999 * batch.deviation[:, None] * slopes / lengths[:, None]


def exact_decision(machine: KernelMachine, x: np.ndarray):
    """Return f of one prepared input; every float64 of the model is taken as it is."""
    mp.dps = 50
    kernel = machine.kernel
    terms = []
    for s, beta in zip(machine.support_vectors, machine.dual_coef[0], strict=True):
        inner = mp.fsum(mpf(float(a)) * mpf(float(b)) for a, b in zip(s, x, strict=True))
        u = mpf(float(kernel.gamma)) * inner + mpf(float(kernel.coef0))
        value = mp.tanh(u) if isinstance(kernel, Sigmoid) else u**kernel.degree
        terms.append(mpf(float(beta)) * value)
    return mp.fsum(terms) + mpf(float(machine.intercept[0]))


def test_more_squares_decide_more_and_cost_what_their_levels_cost():
    emitted = emitted_of(quadratics.CORE[0])
    stage, ends = quadratics.stage_of(emitted.program), emitted.program.ends
    _, batch = prepared(emitted.program, emitted.queries)
    before = batch.operations
    shares = []
    for n_levels in range(1, stage.n_levels + 1):
        part = replace(stage, rows=stage.rows[:n_levels], levels=stage.levels[:n_levels])
        answered, decided = part.decide(batch, ends)
        shares.append(decided.mean())
        spent = answered.operations - before
        assert spent[~decided].max() == part.worst_operations(ends)
        assert spent[decided].max() <= part.worst_operations(ends)
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]


def test_an_input_that_might_overflow_proves_nothing():
    emitted = emitted_of(quadratics.CORE[0])
    stage = quadratics.stage_of(emitted.program)
    _, batch = prepared(emitted.program, emitted.queries[:5])
    none = replace(stage, largest=np.float32(0.0))
    answered, decided = none.decide(batch, emitted.program.ends)
    assert not decided.any()
    assert (answered.least == batch.least).all()


def test_the_sums_behind_are_over_monomials_or_vectors_of_a_polynomial():
    stage = quadratics.stage_of(emitted_of(quadratics.CORE[0]).program)
    rbf = emitted_of(catalogue.CORE[0]).program
    for case, stands in ((quadratics.CORE[0], True), (quadratics.CORE[1], True)):
        assert stage.stands_before(emitted_of(case).program.sum) is stands
    assert not stage.stands_before(rbf.sum)
