"""The sum over monomials: its order, its cost, and its bound against 60 digits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mp, mpf

from kit.polynomials import Polynomial
from kmcompile.lower import lower
from kmcompile.lower.polynomial_sum import lower_polynomial
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, FLOAT64, Precision
from kmcompile.passes.expand_polynomial import monomials, n_monomials
from kmcompile.program.interpreter import interpret
from kmcompile.program.stages import PolynomialSum

DIGITS = 60
DEGREES = (1, 2, 3, 4, 6)


def batch_of(x: np.ndarray, deviation: np.ndarray) -> Batch:
    length = np.sqrt((x.astype(np.float64) ** 2).sum(axis=1)) * (1 + 1e-6)
    return replace(
        Batch.of(x.astype(np.float32), 1),
        x=x,
        deviation=deviation.astype(x.dtype),
        length=np.nextafter(length.astype(x.dtype), x.dtype.type(np.inf)),
    )


def exact_decisions(machine: KernelMachine, x: list[object]) -> list[object]:
    kernel, found = machine.kernel, []
    for p, beta in enumerate(decision_coefficients(machine)):
        total = mpf(float(machine.intercept[p]))
        for s, b in zip(machine.support_vectors, beta, strict=True):
            inner = mp.fdot([mpf(float(v)) for v in s], x)
            v = mpf(kernel.gamma) * inner + mpf(kernel.coef0)
            total += mpf(float(b)) * v**kernel.degree
        found.append(total)
    return found


def inputs(n: int, dtype: type, degree: int = 4) -> np.ndarray:
    """Return ordinary, tiny, subnormal and huge inputs, and those of one feature.

    The range of inputs that the C accepts shrinks with the degree.
    """
    rng = np.random.default_rng(2)
    ordinary = rng.normal(size=(12, n))
    scales = 10.0 ** np.array([-44.0, -40, -38, -30, -20, -9, -3, 3, 6, 7])
    scaled = rng.normal(size=(len(scales), n)) * scales[:, None]
    uneven = rng.normal(size=(12, n)) * 10.0 ** rng.uniform(-20, 5, size=(12, n))
    if degree > 4:
        scaled, uneven = scaled / 1e3, uneven / 1e3
    return np.concatenate([ordinary, scaled, uneven, np.eye(n), np.zeros((1, n))]).astype(dtype)


@pytest.mark.parametrize("precision", [FLOAT32, FLOAT64], ids=["float32", "float64"])
@pytest.mark.parametrize(
    "task", ["binary", pytest.param("one_vs_one", marks=pytest.mark.exhaustive)]
)
@pytest.mark.parametrize("degree", DEGREES)
def test_no_error_exceeds_its_bound(degree, task, precision: Precision):
    machine = Polynomial(task, degree, n_samples=30).machine()
    stage = lower_polynomial(machine, 4, precision)
    x = inputs(stage.n_features, precision.dtype, degree)
    rng = np.random.default_rng(6)
    moved = rng.normal(size=x.shape)
    for share in (0.0, 1e-6, 0.5):
        off = moved * share * np.abs(x.astype(np.float64)).max(axis=1, keepdims=True)
        exact = x.astype(np.float64) + off
        off = np.sqrt(((exact - x.astype(np.float64)) ** 2).sum(axis=1)) * (1 + 1e-6)
        made = stage.run(batch_of(x, off))
        with mp.workdps(DIGITS):
            for row, decisions, bounds in zip(exact, made.decision, made.bound, strict=True):
                true = exact_decisions(machine, [mpf(float(v)) for v in row])
                for f, decision, bound in zip(true, decisions, bounds, strict=True):
                    assert abs(f - mpf(float(decision))) <= mpf(float(bound))


@pytest.mark.parametrize("degree", DEGREES)
def test_the_sums_are_nested_in_the_order_of_the_monomials(degree):
    machine = Polynomial("one_vs_rest", degree, n_features=3).machine()
    stage = lower_polynomial(machine, 2)
    x = inputs(3, np.float32)[:5]
    table = {
        factors: stage.terms[:, t, :].reshape(-1)[: stage.n_decisions]
        for t, factors in enumerate(monomials(3, degree))
    }

    def nested(row: np.ndarray, factors: tuple[int, ...]) -> np.ndarray:
        total = table[factors].copy() if factors else np.zeros(stage.n_decisions, np.float32)
        if len(factors) < degree:
            for j in range(factors[-1] + 1 if factors else 3):
                total += row[j] * nested(row, (*factors, j))
        return total

    made = stage.run(batch_of(x, np.zeros(len(x))))
    want = np.array([nested(row, ()) + stage.intercept for row in x])
    np.testing.assert_array_equal(made.decision, want)


@pytest.mark.parametrize("degree", DEGREES)
def test_its_cost_is_one_multiply_add_a_coefficient(degree):
    machine = Polynomial("binary", degree).machine()
    stage = lower_polynomial(machine, 4)
    assert stage.n_terms == n_monomials(5, degree)
    assert stage.operations() == stage.n_terms + 2 * degree + 5
    assert stage.kernel_evaluations() == 1
    fewer = replace(
        machine,
        support_vectors=machine.support_vectors[::2],
        dual_coef=machine.dual_coef[:, ::2],
    )
    assert lower_polynomial(fewer, 4).operations() == stage.operations()


@pytest.mark.parametrize("degree", [4, 6])
def test_no_intermediate_of_an_accepted_input_overflows(degree):
    case = Polynomial("binary", degree)
    emitted = case.emit("host")
    stage, prepare = emitted.program.sum, emitted.program.prepare
    assert isinstance(stage, PolynomialSum)
    largest = np.full((1, 5), prepare.limit, dtype=np.float32)
    with np.errstate(over="raise", invalid="raise"):
        made = stage.run(prepare.run(Batch.of(largest, 1)))
    assert np.isfinite(made.decision).all() and np.isfinite(made.bound).all()


def test_the_bound_is_smaller_than_that_of_the_sum_over_vectors():
    """What cancels between vectors has cancelled in the coefficients, without rounding."""
    case = Polynomial("binary", 2, n_samples=200)
    emitted = case.emit("host")
    answers = emitted.answers
    machine = case.machine()
    summed = lower(machine, emitted.target, "iris", ordinary_inputs(machine, 64))
    over_vectors = interpret(summed, emitted.queries)
    both = (answers.bounds[:, 0] > 0) & (over_vectors.bounds[:, 0] > 0)
    assert np.median(answers.bounds[both] / over_vectors.bounds[both]) < 0.5
