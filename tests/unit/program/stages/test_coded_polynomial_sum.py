"""The sum over monomials in integers: its order, its steps, its cost and its bound."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kit.coded_polynomials import RANGES, CodedPolynomial
from kmcompile.errors import InputError
from kmcompile.kernels import Poly
from kmcompile.lower.coded_polynomial_sum import lower_coded_polynomial
from kmcompile.lower.codes import lossless_codes
from kmcompile.lower.integer_program import IntegerTableForm, lower_integers, with_polynomial
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.batch import Batch
from kmcompile.passes.expand_polynomial import monomials, n_monomials
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import CodedPolynomialSum
from kmcompile.target import load_target

HOST = load_target("host")


def machine_of(vectors: Any, coef: Any, kernel: Poly, intercept: float = 0.0) -> KernelMachine:
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


def program_of(machine: KernelMachine) -> Program:
    coded = lossless_codes(machine)
    assert coded is not None
    known = machine.support_vectors[:4].astype(np.float32)
    kind = "int16" if coded.width == "int16" else "int8"
    form = IntegerTableForm(False, True)
    program = lower_integers(coded, HOST, "iris", known, form, kind)
    return with_polynomial(program, coded, HOST)


def stage_of(machine: KernelMachine) -> CodedPolynomialSum:
    coded = lossless_codes(machine)
    assert coded is not None
    return lower_coded_polynomial(coded, HOST)


def exact_decisions(machine: KernelMachine, x: Any) -> list[Fraction]:
    """Return the decisions of exact features."""
    kernel, values = machine.kernel, [Fraction(float(v)) for v in x]
    gamma, coef0 = Fraction(kernel.gamma), Fraction(kernel.coef0)
    powers = []
    for s in machine.support_vectors.tolist():
        inner = sum((Fraction(v) * w for v, w in zip(s, values, strict=True)), Fraction(0))
        powers.append((gamma * inner + coef0) ** kernel.degree)
    return [
        Fraction(float(b)) + sum((Fraction(v) * k for v, k in zip(row, powers, strict=True)), 0)
        for row, b in zip(decision_coefficients(machine).tolist(), machine.intercept, strict=True)
    ]


def excess(machine: KernelMachine, program: Program, X: np.ndarray) -> float:
    """Return the largest error of accepted inputs in units of its bound."""
    answers = interpret(program, X)
    accepted = answers.results["status"] == Status.OK
    assert accepted.any()
    worst = 0.0
    found = zip(X[accepted], answers.decisions[accepted], answers.bounds[accepted], strict=True)
    for x, decisions, bounds in found:
        for exact, f, b in zip(exact_decisions(machine, x), decisions, bounds, strict=True):
            worst = max(worst, float(abs(exact - Fraction(float(f))) / Fraction(float(b))))
    return worst


def inputs(program: Program, codes: str) -> np.ndarray:
    """Return codes as in training, at the ends of their limits, and with one feature."""
    rng, n, table = np.random.default_rng(4), program.n_features, program.codes
    assert table is not None
    usual = rng.integers(*RANGES[codes], size=(12, n))
    ends = rng.choice([table.low, table.high], size=(8, n))
    return np.concatenate([usual, ends, table.high * np.eye(n, dtype=np.int64), 0 * usual[:1]])


@pytest.mark.few
@pytest.mark.parametrize(
    "case",
    [
        *(CodedPolynomial("binary", degree) for degree in (1, 2, 3, 6)),
        *(CodedPolynomial("binary", degree, "int16") for degree in (1, 2, 3, 4, 5, 6)),
        CodedPolynomial("one_vs_one", 2, "int8"),
        CodedPolynomial("one_vs_rest", 3, "few"),
        CodedPolynomial("binary", 3, "int8", coef0=0.0),
    ],
    ids=str,
)
def test_the_bound_holds_of_codes_and_of_floats(case):
    emitted = case.emit("host")
    X = inputs(emitted.program, case.codes)
    assert excess(emitted.machine, emitted.program, X) <= 1.0
    rng = np.random.default_rng(5)
    X = (X + rng.uniform(-0.5, 0.5, X.shape)).astype(np.float32)
    assert excess(emitted.machine, emitted.program, X) <= 1.0


def test_the_sums_are_nested_in_the_order_of_the_monomials():
    emitted = CodedPolynomial("one_vs_rest", 3, n_features=3).emit("cortex-m7")
    stage = emitted.program.sum
    assert isinstance(stage, CodedPolynomialSum)
    table = {
        factors: stage.terms[:, t, :].reshape(-1)[: stage.n_decisions].astype(object)
        for t, factors in enumerate(monomials(3, 3))
    }

    def nested(x: list[int], factors: tuple[int, ...]) -> np.ndarray:
        k = len(factors)
        total = table[factors] * (1 << int(stage.shifts[k - 1])) if k else 0
        for j in range(factors[-1] + 1 if k else 3) if k < 3 else ():
            inner = nested(x, (*factors, j))
            total = total + x[j] * (inner >> int(stage.shifts[k]))
        return total

    X = inputs(emitted.program, "uint8")
    begin, end = stage.start.astype(object).T
    want = [nested(x.tolist(), ()) + begin - end for x in X]
    assert stage.sums(X).tolist() == [row.tolist() for row in want]


def test_a_homogeneous_kernel_has_one_step_and_loses_nothing_on_the_way():
    stage = CodedPolynomial("binary", 2, coef0=0.0).emit("host").program.sum
    assert isinstance(stage, CodedPolynomialSum)
    assert stage.shifts.tolist() == [0, 0]


def test_where_coefficients_are_whole_the_decision_is_exact():
    rng = np.random.default_rng(7)
    s = rng.integers(0, 9, size=(9, 4))
    machine = machine_of(s, rng.integers(-4, 5, size=9) / 4, Poly(0.25, 1.0, 2), 0.5)
    codes = rng.integers(0, 12, size=(40, 4))
    answers = interpret(program_of(machine), codes)
    exact = [float(exact_decisions(machine, x)[0]) for x in codes]
    assert answers.decisions[:, 0].tolist() == exact


@pytest.mark.parametrize("degree", [1, 2, 3, 6])
@pytest.mark.parametrize("size", [1e-20, 1.0, 1e9])
@pytest.mark.parametrize("coef0", [0.0, 1e-6, 1.0, 100.0])
@pytest.mark.parametrize("codes", ["few", "int8", "int16"])
def test_no_sum_reaches_two_to_the_62nd(codes, coef0, size, degree):
    """With all coefficients as large as they are and the largest codes."""
    rng = np.random.default_rng(8)
    low, high = RANGES[codes]
    s = rng.integers(low, high, size=(20, 3))
    kernel = Poly(1.0 / (3 * high**2), coef0, degree)
    stage = stage_of(machine_of(s, size * rng.normal(size=20), kernel, size))
    most = max(-stage.codes.low, stage.codes.high)
    bounds = {}
    columns = np.abs(stage.terms.astype(object)[0, :, 0])
    order = monomials(3, degree)
    for k in range(degree, 0, -1):
        shift = int(stage.shifts[k - 1])
        for t, factors in enumerate(order):
            if len(factors) == k:
                below = [bounds[(*factors, j)] for j in range(factors[-1] + 1) if k < degree]
                total = (columns[t] << shift) + most * sum(below)
                assert total < 1 << 62
                bounds[factors] = (total >> shift) + 1
    assert int(stage.start.max()) + most * sum(bounds[j,] for j in range(3)) < 1 << 62
    program = program_of(machine_of(s, size * rng.normal(size=20), kernel, size))
    answers = program.sum.run(program.prepare.run_codes(Batch.of(s.astype(np.float32), 1)))
    assert np.isfinite(answers.bound).all()


def test_a_polynomial_too_large_for_float32_is_refused():
    machine = machine_of([[0.0, 30000.0], [30000.0, 1.0]], [1e20, -1e20], Poly(1.0, 1.0, 6))
    with pytest.raises(InputError, match="too large for float32"):
        stage_of(machine)


def test_its_cost_is_several_multiply_adds_a_coefficient():
    lowered = CodedPolynomial("binary", 2).lowered("cortex-m0")
    for target, weight in (("cortex-m7", 4), ("cortex-m0", 20)):
        stage = lower_coded_polynomial(lowered.coded, load_target(target))
        assert stage.n_terms == n_monomials(4, 2)
        assert stage.operations() == weight * stage.n_terms + 13
        assert stage.kernel_evaluations() == 1


def test_pairs_of_classes_share_the_walk_where_lanes_are():
    case = CodedPolynomial("one_vs_one", 2)
    assert case.emit("cortex-m7").program.sum.terms.shape == (2, 14, 4)
    assert case.emit("cortex-m0").program.sum.terms.shape == (6, 14, 1)


def test_without_a_term_the_bound_does_not_hold():
    rng = np.random.default_rng(9)
    s = rng.integers(0, 256, size=(30, 3))
    machine = machine_of(s, 1e-4 * rng.normal(size=30), Poly(2e-5, 0.7, 2), 0.1)
    program = program_of(machine)
    stage = program.sum
    codes = rng.integers(0, 256, size=(60, 3))
    off = (codes + 0.4).astype(np.float32)
    small = np.array([[0, 0, 0]])
    for term, X in (("per_length", codes), ("per_deviation", off), ("minimum", small)):
        assert excess(machine, program, X) <= 1.0
        bare = replace(stage, result_error=np.float32(0))
        mutant = replace(bare, **{term: getattr(stage, term) * np.float32(0)})
        assert excess(machine, replace(program, sum=mutant), X) > 1.0


def test_the_float_of_a_sum_rounds_within_its_bound():
    machine = machine_of([[1.0, 0.0], [0.0, 1.0]], [2.0**-3, 1.0], Poly(1.0, 0.0, 1), 2.0**21)
    program = program_of(machine)
    codes = np.array([[k, 255 - k // 2] for k in range(256)])
    zero = np.zeros((1, 1), dtype=np.float32)
    bare = replace(program.sum, minimum=zero[0], per_length=zero)
    answers = bare.run(program.prepare.run_codes(Batch.of(codes.astype(np.float32), 1)))
    errors = [
        abs(exact_decisions(machine, x)[0] - Fraction(float(f[0])))
        for x, f in zip(codes, answers.decision, strict=True)
    ]
    assert max(errors) > 0
    assert all(e <= Fraction(float(b[0])) for e, b in zip(errors, answers.bound, strict=True))


def test_the_bound_is_smaller_than_that_of_the_sum_over_vectors():
    case = CodedPolynomial("binary", 3, n_samples=150)
    emitted, over_vectors = case.emit("host"), case.lowered("host").program
    X = inputs(over_vectors, case.codes)[:12]
    ratio = interpret(emitted.program, X).bounds / interpret(over_vectors, X).bounds
    assert np.median(ratio) < 0.1
