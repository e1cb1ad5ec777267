"""Emitted files that people read: compared byte for byte, compiled and run.

`pytest tests/golden --update-golden` rewrites them; read the difference before committing it.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from golden.folding import folded
from golden.machines import INPUTS, MACHINES

from kit.emitted import Emitted
from kit.host_program import BATCH_MAIN, STRICT, build_program, run_batch
from kmcompile.exits.certified.bound_sequence import lower_bound_sequence
from kmcompile.lower import lower
from kmcompile.lower.codes import lossless_codes
from kmcompile.lower.integer_program import IntegerTableForm, lower_integers, with_polynomial
from kmcompile.lower.known_answers import known_answers
from kmcompile.lower.pair_choice import with_pair_sum
from kmcompile.lower.program import with_tolerance
from kmcompile.lower.replay import lower_replay
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    AdditiveSum,
    InnerProducts,
    LinearFilter,
    NearestVectors,
    Nonzeros,
    PolynomialSum,
    RangeGate,
    ReducedSet,
    SignMap,
)
from kmcompile.target import load_target

GOLDEN = Path(__file__).parent

CASES = [
    ("linear", "host"),
    ("regression", "host"),
    ("cascade", "cortex-m7"),
    ("replay", "cortex-m7"),
    ("codes", "cortex-m7"),
    ("pairs", "cortex-m7"),
    ("polynomial", "cortex-m7"),
    ("additive", "cortex-m7"),
    ("table", "cortex-m7"),
    ("coded_polynomial", "cortex-m7"),
    ("certified", "avr"),
]


@cache
def emitted(kernel: str, target: str) -> Emitted:
    machine, loaded = MACHINES[kernel], load_target(target)
    known = np.array(INPUTS[kernel][:2], dtype=np.float32)
    if kernel in ("codes", "table", "coded_polynomial"):
        codes = lossless_codes(machine)
        layout = IntegerTableForm(sparse=False, wide_coefficients=False)
        program = lower_integers(codes, loaded, "iris", known, layout, "int8")
        if kernel == "coded_polynomial":
            program = with_polynomial(program, codes, loaded)
        return Emitted(machine, program, loaded)
    vectorless = {"polynomial": PolynomialSum, "additive": AdditiveSum}.get(kernel)
    program = lower(machine, loaded, "iris", known, vectorless=vectorless)
    if kernel == "cascade":
        program = with_early_exits(program)
    if kernel == "certified":
        program = with_certified_exits(machine, program)
    if kernel == "regression":
        program = with_tolerance(program, 0.25)
    if kernel == "pairs":
        program = with_pairs(machine, program, known)
    if kernel == "replay":
        replay = lower_replay(machine, loaded, program, known, low_parts=True)
        program = replace(program, replay=replay)
    return Emitted(machine, program, loaded)


def with_early_exits(program: Program) -> Program:
    """Return the program with one of each early exit, every number a round one."""
    exact = program.ends.exact
    vectors = exact.columns().T.astype(np.float64)
    both = np.eye(2)
    between = (
        Nonzeros(2),
        RangeGate(
            2,
            np.float32(0.0),
            np.float32(256.0),
            skip_zeros=True,
            usual=np.array([[16.0, 64.0], [8.0, 128.0]]),
        ),
        LinearFilter(InnerProducts.of_rows(both[:1], True), np.zeros(1), np.array([2.0])),
        ReducedSet(
            number=1,
            products=InnerProducts.of_rows(both[:1, :1], False, np.array([0])),
            vectors=np.array([[[-0.0625, 0.0625], [1.0, 1.0], [0.96875, 0.96875]]]),
            weights=np.array([[[-1.0, 1.0], [0.25, 0.25]]]),
            slopes=np.array([[0.125], [0.0]]),
            intercept=np.array([0.0, 0.5]),
            earlier=np.zeros(1),
            least_spread=np.float32(0.5),
            largest_spread=np.float32(2.0),
            half_width=np.array([1.0]),
            triangle=np.zeros((0, 0)),
            least=np.float32(0.0),
            largest=np.float32(0.0),
        ),
        ReducedSet(
            number=2,
            products=InnerProducts.of_rows(both[:1], True),
            vectors=np.array([[[-0.0625, 0.0625], [1.0, 1.0], [0.96875, 0.96875]]]),
            weights=np.array([[[-1.0, 1.0], [0.25, 0.25]]]),
            slopes=np.array([[0.25], [0.0]]),
            intercept=np.array([0.0, 0.5]),
            earlier=np.array([0.25]),
            least_spread=np.float32(0.5),
            largest_spread=np.float32(2.0),
            half_width=np.array([1.0]),
            triangle=np.eye(1),
            least=np.float32(0.0),
            largest=np.float32(64.0),
        ),
        NearestVectors(
            levels=(InnerProducts.of_rows(both[1:], True),),
            vectors=vectors[:, 1:].reshape(exact.n_blocks, exact.lanes, 1).transpose(0, 2, 1),
            residuals=vectors[:, 0][None] ** 2,
            weights=np.abs(exact.slot_coefficients(0)),
            far=np.float32(64.0),
            from_estimate=True,
            tug_of_war=False,
            steps=np.array([0, 1, 2]),
            own=np.array([[0.75], [0.875], [1.0]]),
            earlier=np.array([[0.25], [0.125], [0.0]]),
            offset=np.zeros((3, 1)),
            half_width=np.array([[0.5], [0.25], [0.125]]),
            least=np.zeros(1),
            largest=np.array([128.0]),
        ),
    )
    return replace(program, mode="statistical", exits=(*between, *program.exits))


def with_pairs(machine: KernelMachine, program: Program, known: Float32Array) -> Program:
    """Return the program with a sum of pairs, whose order round weights choose."""
    summed = with_pair_sum(machine, program, known, known)
    assert summed is not None
    pairs = replace(
        summed.ends.exact,
        score_weights=np.array([[-0.5, -0.25], [0.5, -0.25], [0.0, 0.5]], dtype=np.float32),
        score_offset=np.zeros(3, dtype=np.float32),
    )
    program = replace(summed, sum=pairs)
    return replace(program, known_answers=known_answers(program, known))


def with_certified_exits(machine: KernelMachine, program: Program) -> Program:
    """Return the program with a sign map of 16 boxes and a sequence of two vectors.

    f has these signs in the boxes, and is 0.15 away from 0. Bounds of the sequence are rounded up,
    so that no last bit of a linear algebra library is in them.
    """
    signs = SignMap.of(
        kinds=np.array([2, 2, 2, 1, 0, 3, 0, 3, 0, 3, 0, 3, 3, 1, 3, 1], dtype=np.uint8),
        low=np.array([4.0, 885.0]),
        size=np.array([16.0, 128.0]),
        across=np.array([2, 2]),
        depth=1,
        sizes=(np.float32(0.125), np.float32(2.0)),
    )
    sequence = lower_bound_sequence(machine, program, machine.support_vectors[:2])
    assert sequence is not None
    sequence = replace(
        sequence,
        residual=rounded_up(sequence.residual),
        per_error=rounded_up(sequence.per_error),
        per_reach=rounded_up(sequence.per_reach),
        minimum=rounded_up(sequence.minimum),
    )
    return replace(program, mode="certified", exits=(signs, sequence, *program.exits))


def rounded_up(bounds: Float32Array) -> Float32Array:
    """Return the next multiples of 2^-12."""
    return np.ceil(bounds * np.float32(4096)) / np.float32(4096)


def golden_text(kernel: str, target: str, file: str) -> str:
    """Return a file as it is kept: functions that an earlier case has are a line each."""
    number = CASES.index((kernel, target))
    earlier = {
        f"{case[0]}-{case[1]}": emitted(*case).files[file].decode("ascii")
        for case in CASES[:number]
    }
    return folded(emitted(kernel, target).files[file].decode("ascii"), earlier)


@pytest.mark.parametrize(("kernel", "target"), CASES)
@pytest.mark.parametrize("file", ["iris.h", "iris.c"])
def test_the_emitted_file_is_the_golden_one(kernel, target, file, request):
    golden = GOLDEN / f"{kernel}-{target}" / file
    text = golden_text(kernel, target, file)
    if request.config.getoption("--update-golden"):
        golden.parent.mkdir(exist_ok=True)
        golden.write_text(text, encoding="ascii")
    assert golden.read_text(encoding="ascii") == text


@pytest.mark.few
@pytest.mark.parametrize(("kernel", "target"), CASES)
def test_the_golden_program_compiles_and_gives_the_interpreter_s_answers(kernel, target, tmp_path):
    program = emitted(kernel, target)
    sources = ("iris.c", "iris_harness.c")
    binary = build_program(program, tmp_path, BATCH_MAIN, ["-O2", *STRICT], sources=sources)
    records, self_test = run_batch(binary, program, program.inputs)
    np.testing.assert_array_equal(records, program.records)
    assert self_test == Status.OK


def test_each_stage_of_the_golden_cascade_answers_an_input():
    program = emitted("cascade", "cortex-m7").program
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(500, 2)) * [40.0, 400.0] + [20.0, 1013.25]).astype(np.float32)
    results = interpret(program, X).results
    assert set(results["stage"]) == set(range(len(program.exit_stages)))
    assert set(results["in_range"]) == {False, True}


def test_each_stage_of_the_golden_certified_program_is_right_about_an_input():
    program = emitted("certified", "avr").program
    rng = np.random.default_rng(0)
    X = (rng.normal(size=(2000, 2)) * [10.0, 80.0] + [20.0, 1013.25]).astype(np.float32)
    results, reference = interpret(program, X).results, evaluate(MACHINES["certified"], X)
    sure = results["certified"]
    assert set(results["stage"][sure]) == set(range(len(program.exit_stages)))
    np.testing.assert_array_equal(results["label"][sure], reference.labels[sure])
    f = reference.decisions[:, 0]
    assert ((results["lower"] <= f) & (f <= results["upper"])).all()


def test_the_golden_regression_is_settled_and_near_the_model():
    program = emitted("regression", "host").program
    X = np.array(INPUTS["regression"], dtype=np.float32)
    answers = interpret(program, X).results
    assert answers["certified"].all()
    f = evaluate(MACHINES["regression"], X).decisions[:, 0]
    assert ((answers["lower"] <= f) & (f <= answers["upper"])).all()


LABELS = [
    ("rbf", [0, 1, 0, 1]),
    ("pairs", [0, 1, 2, 0, 1, 2]),
    ("polynomial", [0, 1, 2, 0, 1, 2]),
    ("linear", [0, 1, 2, 1]),
    ("codes", [0, 1, 0, 1, 1]),
    ("additive", [0, 1, 2, 0]),
    ("table", [0, 1, 2, 0]),
    ("coded_polynomial", [0, 1, 2, 0]),
]


@pytest.mark.parametrize(("kernel", "labels"), LABELS)
def test_the_golden_models_say_what_they_were_written_to_say(kernel, labels):
    program = emitted(kernel, "host").program
    answers = interpret(program, np.array(INPUTS[kernel], dtype=np.float32))
    assert answers.results["label"].tolist() == labels
    assert answers.results["certified"].all()
