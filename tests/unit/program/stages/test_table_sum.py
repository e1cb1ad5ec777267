"""The sum of table values: what is stored, what is looked up, what its bound says."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from kmcompile.errors import InputError
from kmcompile.kernels import Intersection
from kmcompile.lower.codes import lossless_codes
from kmcompile.lower.integer_program import IntegerTableForm, lower_integers
from kmcompile.lower.table_sum import lower_table_sum
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.batch import Batch
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import TableSum
from kmcompile.steps import Affine
from kmcompile.target import load_target

WIDE, NARROW = IntegerTableForm(False, True), IntegerTableForm(False, False)


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


def program_of(machine: KernelMachine, form: IntegerTableForm = WIDE) -> Program:
    coded = lossless_codes(machine)
    assert coded is not None
    known = machine.support_vectors[:4].astype(np.float32)
    kind = "int16" if coded.width == "int16" else "int8"
    return lower_integers(coded, load_target("host"), "iris", known, form, kind)


def stage_of(machine: KernelMachine, wide: bool = True) -> TableSum:
    coded = lossless_codes(machine)
    assert coded is not None
    return lower_table_sum(coded, wide)


def exact_decision(machine: KernelMachine, x: np.ndarray) -> Fraction:
    """Return f(x) of exact features."""
    values = [Fraction(float(v)) for v in x]
    total = Fraction(float(machine.intercept[0]))
    for b, s in zip(decision_coefficients(machine)[0], machine.support_vectors, strict=True):
        pairs = zip(s.tolist(), values, strict=True)
        total += Fraction(float(b)) * sum((min(Fraction(v), x) for v, x in pairs), Fraction(0))
    return total


def excess(machine: KernelMachine, program: Program, X: np.ndarray) -> float:
    """Return the largest error of accepted inputs in units of its bound."""
    answers = interpret(program, X)
    accepted = answers.results["status"] == Status.OK
    assert accepted.any()
    worst = 0.0
    for x, f, bound in zip(X[accepted], answers.decisions, answers.bounds, strict=True):
        error = abs(exact_decision(machine, x) - Fraction(float(f[0])))
        worst = max(worst, float(error / Fraction(float(bound[0]))))
    return worst


RANGES = {"uint8": (0, 256), "few": (0, 5), "int8": (-128, 128), "int16": (0, 3000)}
RANGES |= {"signed int16": (-700, 700), "below 0": (-99, -20)}


@pytest.mark.parametrize("form", [WIDE, NARROW], ids=["32 bits", "16 bits"])
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e9])
@pytest.mark.parametrize("codes", RANGES)
def test_the_bound_holds_of_codes_and_of_floats(codes, size, form):
    rng = np.random.default_rng(5)
    s = rng.integers(*RANGES[codes], size=(12, 3)).astype(np.float64)
    machine = machine_of(s, size * rng.normal(size=12), 0.3 * size)
    program = program_of(machine, form)
    assert program.codes is not None
    limits = (max(program.codes.low, -1500), min(program.codes.high, 6000) + 1)
    X = np.concatenate([s.astype(np.int64), rng.integers(*limits, size=(20, 3))])
    assert excess(machine, program, X) <= 1.0
    assert excess(machine, program, (X + rng.uniform(-0.5, 0.5, X.shape)).astype(np.float32)) <= 1.0


def test_values_are_stored_up_to_the_largest_code_and_looked_up():
    machine = machine_of([[0.0, 5.0], [2.0, 5.0], [3.0, 7.0]], [1.0, -3.0, 2.0])
    stage = stage_of(machine)
    assert stage.function_columns.tolist() == [0, 1]
    assert stage.function_ends.tolist() == [4, 12]
    assert stage.operations() == 2 * 3 + 6
    step = float(stage.result_scale)
    # -min(2, x) * 3 + min(3, x) * 2 is 0, -1, -2, 0 for the codes 0 to 3.
    assert (stage.values[:4, 0] * step).tolist() == [2.0, 1.0, 0.0, 2.0]


def test_an_input_beyond_the_largest_code_has_the_last_value():
    machine = machine_of([[1.0], [3.0]], [1.0, 2.0])
    codes = np.array([[3], [4], [255]], dtype=np.int64)
    assert len(set(interpret(program_of(machine), codes).decisions[:, 0].tolist())) == 1


def test_where_small_sums_are_whole_the_decision_is_exact():
    rng = np.random.default_rng(7)
    s = rng.integers(0, 9, size=(9, 4)).astype(np.float64)
    machine = machine_of(s, rng.integers(-4, 5, size=9) / 4, 0.5)
    codes = rng.integers(0, 12, size=(40, 4))
    answers = interpret(program_of(machine), codes)
    exact = [float(exact_decision(machine, x)) for x in codes]
    assert answers.decisions[:, 0].tolist() == exact


def test_a_feature_that_changes_no_decision_has_no_function():
    machine = machine_of([[4.0, 1.0], [4.0, 2.0]], [1.0, -1.0], 0.5)
    stage = stage_of(machine)
    assert stage.function_columns.tolist() == [1]
    program = program_of(machine)
    assert excess(machine, program, np.array([[0, 1], [4, 2], [99, 3]], dtype=np.int64)) <= 1.0


def test_if_no_feature_changes_a_decision_one_function_is_left():
    machine = machine_of([[4.0, 1.0], [4.0, 1.0]], [1.0, -1.0], 0.5)
    assert stage_of(machine).n_functions == 1
    assert interpret(program_of(machine), np.array([[3, 3]])).decisions.tolist() == [[0.5]]


@pytest.mark.parametrize("intercept", [0.0, 1e5, -1e5, 3e8, -3e8])
def test_no_sum_of_integers_overflows(intercept):
    rng = np.random.default_rng(8)
    s = rng.integers(0, 256, size=(30, 5)).astype(np.float64)
    coef = rng.normal(size=30) * 100
    for wide in (True, False):
        stage = stage_of(machine_of(s, coef, intercept), wide)
        firsts = np.append(0, stage.function_ends[:-1]).astype(int)
        largest = np.maximum.reduceat(stage.values.astype(np.int64), firsts)
        assert (stage.start[:, 0] + largest.sum(axis=0) < 1 << 32).all()
        assert (stage.start[:, 1].astype(np.int64) < 1 << 32).all()
        assert stage.values.dtype == (np.uint32 if wide else np.uint16) or intercept


def test_without_a_term_the_bound_does_not_hold():
    rng = np.random.default_rng(9)
    s = rng.integers(0, 256, size=(30, 5)).astype(np.float64)
    machine = machine_of(s, rng.normal(size=30))
    program = program_of(machine, NARROW)
    stage = program.sum
    assert isinstance(stage, TableSum)
    codes = rng.integers(0, 256, size=(60, 5))
    off = (codes + 0.4).astype(np.float32)
    for term, X in (("minimum", codes), ("per_deviation", off)):
        assert excess(machine, program, X) <= 1.0
        mutant = replace(stage, **{term: getattr(stage, term) * np.float32(0)})
        assert excess(machine, replace(program, sum=mutant), X) > 1.0


def test_the_float_of_a_sum_rounds_within_its_bound():
    machine = machine_of([[255.0, 255.0]], [2.0**-3], 2.0**21)
    program = program_of(machine)
    stage = program.sum
    assert isinstance(stage, TableSum)
    codes = np.array([[k, 255 - k // 2] for k in range(256)])
    bare = replace(stage, minimum=stage.minimum * np.float32(0))
    answers = bare.run(program.prepare.run_codes(Batch.of(codes.astype(np.float32), 1)))
    errors = [
        abs(exact_decision(machine, x) - Fraction(float(f[0])))
        for x, f in zip(codes, answers.decision, strict=True)
    ]
    assert max(errors) > 0
    assert all(e <= Fraction(float(b[0])) for e, b in zip(errors, answers.bound, strict=True))


def test_a_table_that_would_be_too_long_is_refused():
    rng = np.random.default_rng(10)
    machine = machine_of(rng.integers(20000, 30000, size=(9, 300)), rng.normal(size=9))
    with pytest.raises(InputError, match=r"a table of all codes would have 8,\d+,\d+ values"):
        stage_of(machine)


def test_a_scaler_that_changes_signs_is_refused():
    machine = machine_of([[1, 3], [2, 5]], [1.0, -0.5])
    turned = Affine(np.zeros(2), -np.ones(2), np.zeros(2), 0.0)
    with pytest.raises(InputError, match="changes the signs of the features"):
        lossless_codes(replace(machine, preprocessing=(turned,)))
