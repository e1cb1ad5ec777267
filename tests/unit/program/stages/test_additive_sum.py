"""What the sum of feature functions says of its error is an upper bound, in exact rationals."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kmcompile.kernels import Intersection
from kmcompile.lower.additive_sum import lower_additive
from kmcompile.lower.prepare import length_bound
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import FLOAT32, FLOAT64, Precision
from kmcompile.program.stages import AdditiveSum

TERMS = ("per_length", "per_deviation", "minimum", "result_error")
ZERO = np.float32(0.0)


def machine_of(vectors: Any, coef: Any, intercept: float = 0.0) -> KernelMachine:
    vectors = np.asarray(vectors, dtype=np.float64)
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=Intersection(),
        support_vectors=vectors,
        dual_coef=np.asarray(coef, dtype=np.float64).reshape(1, -1),
        intercept=np.array([intercept]),
        classes=(0, 1),
        n_features=vectors.shape[1],
    )


def exact_decisions(machine: KernelMachine, x: np.ndarray) -> list[Fraction]:
    s = [[Fraction(float(v)) for v in row] for row in machine.support_vectors]
    x = [Fraction(float(v)) for v in x]
    kernels = [sum(map(min, row, x), Fraction(0)) for row in s]
    rows = zip(decision_coefficients(machine).tolist(), machine.intercept.tolist(), strict=True)
    return [
        sum((Fraction(b) * k for b, k in zip(row, kernels, strict=True)), Fraction(intercept))
        for row, intercept in rows
    ]


def batch_of(
    x: np.ndarray, n_decisions: int, precision: Precision, deviation: float = 0.0
) -> Batch:
    x = x.astype(precision.dtype)
    up = np.nextafter(precision.dtype(deviation), precision.dtype(np.inf)) if deviation else 0.0
    return replace(
        Batch.of(x, n_decisions),
        deviation=np.full(len(x), up, dtype=precision.dtype),
        length=length_bound(x.shape[1], precision).of(x),
    )


def excess(
    machine: KernelMachine,
    stage: AdditiveSum,
    x: np.ndarray,
    precision: Precision = FLOAT32,
    exact: np.ndarray | None = None,
) -> float:
    """Return the largest error in units of its bound."""
    exact = x if exact is None else exact
    deviation = float(np.sqrt(((x.astype(np.float64) - exact) ** 2).sum(axis=1)).max())
    result = stage.run(batch_of(x, machine.n_decisions, precision, deviation * (1 + 1e-9)))
    worst = 0.0
    for row, own, bounds in zip(exact, result.decision, result.bound, strict=True):
        for true, f, bound in zip(exact_decisions(machine, row), own, bounds, strict=True):
            error = abs(true - Fraction(float(f)))
            if error:
                worst = max(worst, float(error / Fraction(float(bound))) if bound else np.inf)
    return worst


def inputs(vectors: np.ndarray, rng: np.random.Generator, n: int = 60) -> np.ndarray:
    """Return inputs at knots, next to them, between and beyond them, and of many sizes, float32."""
    picked = rng.permuted(np.repeat(vectors, -(-n // len(vectors)), axis=0)[:n], axis=0)
    at = picked.astype(np.float32)
    scale = np.float32(np.abs(vectors).max())
    beyond = scale * rng.normal(size=at.shape).astype(np.float32) * np.float32(3)
    sizes = (10.0 ** rng.uniform(-30, 6, size=at.shape)).astype(np.float32)
    return np.concatenate(
        [
            at,
            np.nextafter(at, np.float32(np.inf)),
            np.nextafter(at, np.float32(-np.inf)),
            (at + rng.permuted(at, axis=0)) / np.float32(2),
            beyond,
            sizes * rng.choice(np.float32([-1, 1]), size=at.shape),
            np.zeros((1, at.shape[1]), dtype=np.float32),
        ]
    )


VECTORS = {
    "codes": lambda rng, shape: rng.integers(0, 5, size=shape).astype(np.float64),
    "real": lambda rng, shape: rng.normal(size=shape),  # no value is a float32
    "near": lambda rng, shape: 1.0 + 2.0**-30 * rng.integers(0, 200, size=shape),  # knots coincide
    "offset": lambda rng, shape: 1e3 + rng.normal(size=shape),
    "sizes": lambda rng, shape: 10.0 ** rng.uniform(-30, 6, size=shape),
    "one": lambda rng, shape: rng.normal(size=(1, shape[1])),
    "equal": lambda rng, shape: np.repeat(rng.normal(size=(1, shape[1])), 5, axis=0),
}
SHAPES = [(12, 3), pytest.param((60, 9), marks=pytest.mark.exhaustive)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("precision", ["float32", "float64", "low_parts"])
@pytest.mark.parametrize("balanced", [True, False])
@pytest.mark.parametrize("vectors", VECTORS)
def test_the_bound_of_feature_functions_holds(vectors, balanced, precision, shape):
    rng = np.random.default_rng(5)
    s = VECTORS[vectors](rng, shape)
    beta = rng.normal(size=len(s))
    beta -= beta.mean() if balanced and len(s) > 1 else 0.0
    machine = machine_of(s, beta, 0.3)
    of = FLOAT32 if precision == "float32" else FLOAT64
    stage = lower_additive(machine, 4, of, precision == "low_parts")
    assert excess(machine, stage, inputs(s, rng, shape[0]), of) <= 1.0


def test_the_bound_holds_for_inputs_that_are_off():
    rng = np.random.default_rng(6)
    s = rng.normal(size=(12, 3))
    machine = machine_of(s, rng.normal(size=12), 0.3)
    x = inputs(s, rng, 12)
    off = x + 1e-3 * rng.normal(size=x.shape)
    assert excess(machine, lower_additive(machine, 4), x, exact=off) <= 1.0


def _needing(term: str) -> tuple[KernelMachine, np.ndarray, np.ndarray | None]:
    """Return a machine and inputs whose errors are nearly all of one term, perhaps those known."""
    rng = np.random.default_rng(7)
    if term == "per_length":  # below the knot, where f is about 0
        x = np.linspace(-3.1e6, -2.9e6, 99, dtype=np.float32)[:, None]
        return machine_of([[1.0]], [1 / 3], 1e6), x, None
    if term == "per_deviation":
        x = rng.uniform(0, 9, size=(9, 1)).astype(np.float32)
        return machine_of([[100.0]], [1.0]), x, x + 1e-3
    if term == "result_error":
        x = rng.uniform(0, 1, size=(99, 1)).astype(np.float32)
        return machine_of([[1.0]], [2.0**-20], 1.0), x, None
    return (
        machine_of(rng.normal(size=(40, 9)), rng.normal(size=40)),
        inputs(rng.normal(size=(9, 9)), rng, 9),
        None,
    )


@pytest.mark.parametrize("term", TERMS)
def test_without_a_term_the_bound_does_not_hold(term):
    machine, x, exact = _needing(term)
    stage = lower_additive(machine, 4)
    assert excess(machine, stage, x, exact=exact) <= 1.0
    mutant = replace(stage, **{term: getattr(stage, term) * ZERO})
    if term == "minimum":
        mutant = replace(mutant, result_error=ZERO)
    assert excess(machine, mutant, x, exact=exact) > 1.0


def test_pieces_begin_at_the_trained_values_and_share_one_search():
    machine = machine_of([[0.0, 5.0], [2.0, 5.0], [3.0, 7.0]], [1.0, -3.0, 2.0])
    stage = lower_additive(machine, 4)
    knots = [stage.weights[:4, 0].tolist(), stage.weights[4:, 0].tolist()]
    columns = stage.function_columns.tolist()
    assert dict(zip(columns, knots, strict=False)) == {0: [0.0, 0.0, 2.0, 3.0], 1: [5.0, 5.0, 7.0]}
    assert stage.steps == (2, 2)
    assert stage.operations() == 4 + 2 * 3 + 5


def test_a_feature_that_changes_no_decision_has_no_function():
    machine = machine_of([[4.0, 1.0], [4.0, 2.0]], [1.0, -1.0], 0.5)
    stage = lower_additive(machine, 4)
    assert stage.function_columns.tolist() == [1]
    assert excess(machine, stage, np.float32([[-9, 1], [4, 1.5], [99, 3]])) <= 1.0


def test_if_no_feature_changes_a_decision_one_function_is_left():
    machine = machine_of([[4.0, 1.0], [4.0, 1.0]], [1.0, -1.0], 0.5)
    stage = lower_additive(machine, 4)
    assert stage.n_functions == 1
    assert excess(machine, stage, np.float32([[-9, 1], [4, 1.5], [99, 3]])) <= 1.0


def test_low_parts_make_the_bound_in_double_much_smaller():
    rng = np.random.default_rng(8)
    machine = machine_of(rng.normal(size=(30, 4)), rng.normal(size=30))
    plain, fine = (lower_additive(machine, 4, FLOAT64, low) for low in (False, True))
    assert fine.minimum[0] < 1e-5 * plain.minimum[0]


def test_the_tables_of_both_precisions_differ_by_low_parts_only():
    """Also where knots coincide in float32, and where a value at a knot is about 0."""
    rng = np.random.default_rng(9)
    for name, vectors in VECTORS.items():
        s = vectors(rng, (20, 4))
        machine = machine_of(s, rng.normal(size=len(s)))
        single, fine = lower_additive(machine, 4), lower_additive(machine, 4, FLOAT64, True)
        low = (fine.weights - single.weights).astype(np.float32)
        np.testing.assert_array_equal(fine.weights, single.weights.astype(np.float64) + low, name)
        np.testing.assert_array_equal(single.function_columns, fine.function_columns)
        np.testing.assert_array_equal(single.function_ends, fine.function_ends)


def test_no_other_ends_make_the_searches_longer():
    machine = machine_of(np.arange(21.0).reshape(7, 3), np.arange(7.0))
    stage = lower_additive(machine, 4)
    n, pieces = stage.n_functions, stage.n_pieces
    assert (n, pieces) == (3, 24)
    steps = [
        replace(stage, function_ends=np.array([a, b, pieces])).steps
        for a in range(1, pieces)
        for b in range(a + 1, pieces)
    ]
    assert stage.most_steps_of_all == max(map(sum, steps))
    assert stage.most_steps >= max(map(max, steps))
