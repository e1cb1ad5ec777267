"""What the sum of curved feature functions says of its error is an upper bound, in rationals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kmcompile.errors import InputError
from kmcompile.kernels import AdditiveChi2
from kmcompile.lower import feature_curves, lower
from kmcompile.lower.curve_sum import lower_curves
from kmcompile.lower.feature_curves import DEGREE, Chi2Functions, feature_curve
from kmcompile.lower.prepare import length_bound
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, FLOAT64, Precision
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages import CurveSum
from kmcompile.target import load_target

TERMS = ("per_length", "per_deviation", "minimum", "beyond", "result_error")
ZERO = np.float32(0.0)


def machine_of(vectors: Any, coef: Any, intercept: float = 0.0) -> KernelMachine:
    vectors = np.asarray(vectors, dtype=np.float64)
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=AdditiveChi2(),
        support_vectors=vectors,
        dual_coef=np.asarray(coef, dtype=np.float64).reshape(1, -1),
        intercept=np.array([intercept]),
        classes=(0, 1),
        n_features=vectors.shape[1],
    )


def exact_decision(machine: KernelMachine, x: np.ndarray) -> Fraction:
    total = Fraction(float(machine.intercept[0]))
    row = decision_coefficients(machine)[0].tolist()
    for beta, vector in zip(row, machine.support_vectors.tolist(), strict=True):
        pairs = [(Fraction(s), Fraction(v)) for s, v in zip(vector, x.tolist(), strict=True)]
        terms = ((s - v) ** 2 / (s + v) for s, v in pairs if s + v)
        total -= Fraction(beta) * sum(terms, Fraction(0))
    return total


def batch_of(x: np.ndarray, precision: Precision, deviation: float = 0.0) -> Batch:
    x = x.astype(precision.dtype)
    up = np.nextafter(precision.dtype(deviation), precision.dtype(np.inf)) if deviation else 0.0
    return replace(
        Batch.of(x, 1),
        deviation=np.full(len(x), up, dtype=precision.dtype),
        length=length_bound(x.shape[1], precision).of(x),
    )


def excess(
    machine: KernelMachine,
    stage: CurveSum,
    x: np.ndarray,
    precision: Precision = FLOAT32,
    exact: np.ndarray | None = None,
) -> float:
    """Return the largest error in units of its bound."""
    exact = x.astype(np.float64) if exact is None else exact
    deviation = float(np.sqrt(((x.astype(np.float64) - exact) ** 2).sum(axis=1)).max())
    result = stage.run(batch_of(x, precision, deviation * (1 + 1e-9)))
    worst = 0.0
    for row, f, bound in zip(exact, result.decision[:, 0], result.bound[:, 0], strict=True):
        error = abs(exact_decision(machine, row) - Fraction(float(f)))
        if error:
            worst = max(worst, float(error / Fraction(float(bound))))
    return worst


def inputs(vectors: np.ndarray, stage: CurveSum, rng: np.random.Generator) -> np.ndarray:
    """Return inputs at trained values, at knots and next to them, beyond them, of many sizes."""
    n = vectors.shape[1]
    knots = rng.choice(stage.weights[:, 0], size=(6, n)).astype(np.float32)
    sizes = 10.0 ** rng.uniform(-30, 6, size=(4, n))
    beyond = 10 * vectors.max() * rng.random((4, n))
    return np.concatenate(
        [
            rng.permuted(vectors[rng.integers(len(vectors), size=5)], axis=0),
            knots,
            np.nextafter(knots, np.float32(np.inf)),
            np.maximum(np.nextafter(knots, np.float32(-np.inf)), 0),
            knots * rng.random(knots.shape),
            sizes,
            beyond,
            np.zeros((1, n)),
        ]
    ).astype(np.float32)


VECTORS = {
    "codes": lambda rng, shape: rng.integers(0, 5, size=shape).astype(np.float64),
    "real": lambda rng, shape: rng.random(shape),
    "offset": lambda rng, shape: 1e3 + rng.random(shape),
    "sizes": lambda rng, shape: 10.0 ** rng.uniform(-30, 6, size=shape),
    "one": lambda rng, shape: rng.random((1, shape[1])),
    "zeros": lambda rng, shape: np.zeros(shape),
    "some_zeros": lambda rng, shape: rng.random(shape) * (np.arange(shape[1]) > 0),
}
SHAPES = [(6, 2), pytest.param((30, 4), marks=pytest.mark.exhaustive)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("precision", ["float32", "float64", "low_parts"])
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("vectors", VECTORS)
def test_the_bound_of_curves_holds(vectors, balanced, precision, shape):
    rng = np.random.default_rng(5)
    s = VECTORS[vectors](rng, shape)
    beta = rng.normal(size=len(s))
    beta -= beta.mean() if balanced and len(s) > 1 else 0.0
    machine = machine_of(s, beta, 0.3)
    of = FLOAT32 if precision == "float32" else FLOAT64
    stage = lower_curves(machine, 4, of, precision == "low_parts")
    assert excess(machine, stage, inputs(s, stage, rng), of) <= 1.0


def test_the_bound_holds_for_inputs_that_are_off():
    rng = np.random.default_rng(6)
    s = rng.random((12, 3))
    machine = machine_of(s, rng.normal(size=12), 0.3)
    stage = lower_curves(machine, 4)
    x = inputs(s, stage, rng)
    off = np.maximum(x + 1e-3 * rng.normal(size=x.shape), 0)
    assert excess(machine, stage, x, exact=off) <= 1.0


def _needing(term: str) -> tuple[KernelMachine, np.ndarray, np.ndarray | None]:
    """Return a machine and inputs whose errors are nearly all of one term, perhaps those known."""
    rng = np.random.default_rng(7)
    if term == "per_length":  # f is about -x / 3 + 1e6 where x is large
        x = np.linspace(2.9e6, 3.1e6, 99, dtype=np.float32)[:, None]
        return machine_of([[0.0]], [1 / 3], 1e6), x, None
    if term == "per_deviation":
        x = rng.uniform(0, 9, size=(9, 1)).astype(np.float32)
        return machine_of([[100.0]], [1.0]), x, x + 1e-3
    if term == "beyond":
        return machine_of([[1.0]], [1.0]), np.float32([[100.0], [1e4]]), None
    if term == "result_error":
        x = rng.uniform(0, 1, size=(99, 1)).astype(np.float32)
        return machine_of([[1.0]], [2.0**-20], 1.0), x, None
    beta = rng.normal(size=40)  # of the sum 0, so that no line is left
    return machine_of(rng.random((40, 9)), beta - beta.mean()), rng.random((9, 9)), None


@pytest.mark.parametrize("term", TERMS)
def test_without_a_term_the_bound_does_not_hold(term):
    machine, x, exact = _needing(term)
    stage = lower_curves(machine, 4)
    assert excess(machine, stage, x.astype(np.float32), exact=exact) <= 1.0
    mutant = replace(stage, **{term: getattr(stage, term) * ZERO})
    if term == "minimum":
        mutant = replace(mutant, result_error=ZERO)
    if term == "per_length":
        mutant = replace(mutant, beyond=stage.beyond * ZERO, result_error=ZERO)
    assert excess(machine, mutant, x.astype(np.float32), exact=exact) > 1.0


def test_errors_of_pieces_are_within_the_tolerance_and_near_what_they_are():
    """Interpolation alone: the polynomials in float64, against the functions."""
    rng = np.random.default_rng(8)
    functions = Chi2Functions(rng.random(20), rng.normal(size=(2, 20)))
    tolerance = np.array([1e-8, 1e-6])
    curve = feature_curve(functions, tolerance, 4.0)
    assert (curve.errors[:-1] <= 1.001 * tolerance).all()
    reached = np.zeros(2)
    for piece in range(len(curve.knots) - 1):
        x = np.linspace(curve.knots[piece], curve.knots[piece + 1], 101)
        y = (x - curve.knots[piece]) * curve.scales[piece]
        assert (y <= 1).all()
        powers = y ** np.arange(DEGREE + 1)[:, None]
        off = np.abs(curve.coefficients[piece].T @ powers - functions.values(x))
        assert (off <= curve.errors[piece][:, None] + 1e-13).all()
        reached = np.maximum(reached, off.max(axis=1))
    assert reached[0] > 0.5 * tolerance[0]


def test_few_pieces_are_enough_and_do_not_grow_with_the_vectors():
    rng = np.random.default_rng(9)
    pieces = []
    for m in (20, 400):
        machine = machine_of(rng.random((m, 3)), rng.normal(size=m))
        stage = lower_curves(machine, 4)
        pieces.append(stage.n_pieces / stage.n_functions)
        assert stage.operations() == sum(stage.steps) + 3 * (4 + DEGREE + 1) + 6
    assert max(pieces) < 40


def test_a_feature_that_changes_no_decision_has_no_function():
    machine = machine_of([[0.0, 1.0], [0.0, 2.0]], [1.0, -1.0], 0.5)
    stage = lower_curves(machine, 4)
    assert stage.function_columns.tolist() == [1]
    assert excess(machine, stage, np.float32([[9, 1], [4, 1.5], [99, 3]])) <= 1.0


def test_low_parts_make_the_bound_in_double_much_smaller():
    rng = np.random.default_rng(8)
    machine = machine_of(rng.random((30, 4)), rng.normal(size=30))
    plain, fine = (lower_curves(machine, 4, FLOAT64, low) for low in (False, True))
    assert fine.minimum[0] < 1e-2 * plain.minimum[0]


def test_the_tables_of_both_precisions_differ_by_low_parts_only():
    rng = np.random.default_rng(9)
    machine = machine_of(rng.random((20, 4)), rng.normal(size=20))
    single, fine = lower_curves(machine, 4), lower_curves(machine, 4, FLOAT64, True)
    low = (fine.weights - single.weights).astype(np.float32)
    np.testing.assert_array_equal(fine.weights, single.weights.astype(np.float64) + low)
    np.testing.assert_array_equal(single.function_columns, fine.function_columns)
    np.testing.assert_array_equal(single.function_ends, fine.function_ends)


def test_the_intervals_of_a_program_hold_f_where_it_is_mostly_a_line():
    """Far from the trained values, with a line that rounds: the program bounds |x|, too."""
    machine = run_passes(machine_of([[0.0], [1.0]], [1 / 3, 1e-3], 1e6))
    x = np.linspace(2.9e6, 3.1e6, 99, dtype=np.float32)[:, None]
    program = lower(machine, load_target("host"), "iris", x[:9], vectorless=CurveSum)
    answers = interpret(program, x).results
    for row, low, high in zip(x, answers["lower"], answers["upper"], strict=True):
        assert Fraction(float(low)) <= exact_decision(machine, row) <= Fraction(float(high))
    negative = interpret(program, -x).results["status"]
    assert (negative == Status.ERROR_RANGE).all()


def test_too_many_pieces_are_refused(monkeypatch):
    monkeypatch.setattr(feature_curves, "_MOST_PIECES", 5)
    with pytest.raises(InputError, match="too many pieces"):
        lower_curves(machine_of([[1.0], [2.0]], [1.0, -1.0]), 4)
