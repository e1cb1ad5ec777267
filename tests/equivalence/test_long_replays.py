"""The replay in integers: bits of the C, bounds in 60 digits, and how much it settles."""

from __future__ import annotations

import platform
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from bound_cases import Case, cases, compiled, queries
from mpmath import mp, mpf

from kit import catalogue
from kit.covering import by_fields, every_nth
from kit.long_replays import EVERY, QUICK, InIntegers, in_integers
from kit.real_model import DIGITS, RealModel
from kit.replays import neighbours
from kit.roundings import flushing_subnormals, need_fma, run
from kit.tools import FAST, need, need_tools
from kmcompile.build import build
from kmcompile.lower.replay import lower_replay
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.numeric.batch import Batch
from kmcompile.passes import run_passes
from kmcompile.program import storage
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages import Replay
from kmcompile.program.stages.sums.long_sum import LongSum
from kmcompile.run import RunResult, runner_for
from kmcompile.target import load_target
from kmcompile.verify.records import answers_of
from kmcompile.verify.worst_case import static_worst_case

HOST = load_target("host")
CASES = [case for case in cases() if "rbf" in case.classifier][::3]
BOARDS = ("cortex-m4", "rv32imafc")


@pytest.mark.few
@pytest.mark.parametrize("case", QUICK, ids=str)
def test_the_c_is_the_interpreter_bit_for_bit(case, tmp_path):
    check(catalogue.emitted(case, "host"), in_integers(HOST), tmp_path)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", EVERY, ids=str)
def test_the_c_of_every_case_is_the_interpreter_bit_for_bit(case, tmp_path):
    check(case.emit("host"), in_integers(HOST), tmp_path)


@pytest.mark.exhaustive
@pytest.mark.target
@pytest.mark.parametrize("board", BOARDS)
def test_boards_without_doubles_give_the_same_bits_in_few_instructions(board, tmp_path):
    """The static worst case of the double replay is several times as large."""
    target = load_target(board)
    need_tools(target)
    assert target.program.replay == "integers"
    case = QUICK[0].case
    counted = []
    for arithmetic in ("integers", "float64"):
        own = replace(target, program=replace(target.program, replay=arithmetic))
        emitted = case.emit(own)
        folder = tmp_path / arithmetic
        check(emitted, own, folder)
        with build(emitted.recipe, folder, own) as artifact:
            worst = static_worst_case(artifact, folder)
        assert worst.instructions is not None and worst.without_replay is not None
        counted.append(worst.instructions - worst.without_replay)
    assert 3 * counted[0] < counted[1]


def check(emitted, target, folder) -> None:
    """Compare all words of the harness; some queries must have been replayed."""
    assert emitted.program.replay.in_integers == (target.program.replay == "integers")
    emitted.write(folder)
    optimisation = FAST if target.boot is None else None
    with build(emitted.recipe, folder, target, optimisation=optimisation) as artifact:
        result = runner_for(target).run(artifact, emitted.inputs)
    np.testing.assert_array_equal(result.records, emitted.records)
    assert result.self_test == Status.OK
    assert (emitted.answers.results["stage"] == len(emitted.program.exit_stages) - 1).any()


@cache
def summed(case: Case, low_parts: bool) -> tuple[Replay, Batch, np.ndarray, list[list[Any]]]:
    """Return the replay, its queries, the errors of its decisions and the real decisions."""
    low, real = compiled(case)
    machine = run_passes(low.machine)
    ordinary = ordinary_inputs(low.machine, 16)
    replay = lower_replay(machine, in_integers(HOST), low.program, ordinary, low_parts)
    X = queries(low, case, 24, seed=7)
    X = np.concatenate([X, neighbours(low.program, X, 4), far(low.program, X[:4])])
    batch = Batch.of(X, low.program.n_decisions)
    decisions = replay.summed(batch).decision
    exact = [real.decisions(x) for x in X]
    with mp.workdps(DIGITS):
        errors = [
            [abs(mpf(f) - e) for f, e in zip(row, reals, strict=True)]
            for row, reals in zip(decisions.tolist(), exact, strict=True)
        ]
    return replay, batch, np.array(errors), exact


def far(program, X: np.ndarray) -> np.ndarray:
    """Return accepted inputs far beyond all vectors, where numbers are cut off."""
    scales = (3.0, 1e3, 1e9, 0.99 * float(program.prepare.limit))
    rows = [x / max(np.abs(x).max(), 1e-30) * s for x in X.astype(np.float64) for s in scales]
    rows += [x * s for x in X.astype(np.float64) for s in (3.0, 100.0)]
    with np.errstate(over="ignore"):
        found = np.array(rows).astype(np.float32)
        return found[interpret(program, found).results["status"] == Status.OK]


def broken(bounds: np.ndarray, errors: np.ndarray) -> int:
    """Return how many errors are larger than their bounds."""
    pairs = zip(bounds.ravel().tolist(), errors.ravel().tolist(), strict=True)
    return sum(error > mpf(bound) for bound, error in pairs)


@pytest.mark.few
@pytest.mark.parametrize("low_parts", [False, True], ids=["plain", "low"])
@pytest.mark.parametrize("case", by_fields(CASES))
def test_bounds_labels_and_intervals_hold_for_the_real_decisions(case, low_parts):
    replay, batch, errors, exact = summed(case, low_parts)
    _, real = compiled(case)
    result, answer = replay.summed(batch), replay.run(batch)
    assert np.isfinite(result.bound).all()
    assert broken(result.bound, errors) == 0
    for row, decisions in enumerate(exact):
        if answer.settled[row]:
            assert answer.label[row] == real.label(decisions)
        ends = mpf(float(answer.lower[row])), mpf(float(answer.upper[row]))
        assert any(ends[0] <= f <= ends[1] for f in decisions)


@pytest.mark.exhaustive
def test_most_of_the_cases_are_in_integers():
    """The others have kernels too narrow for a unit, or numbers that float32 does not scale."""
    replayed = [summed(case, True)[0] for case in CASES]
    assert sum(replay.in_integers for replay in replayed) > 0.8 * len(replayed)


@pytest.mark.parametrize(
    ("case", "constant", "low_parts"),
    [
        (Case("ordinary", "standard", "rbf", 2), "minimum", False),
        (Case("ordinary", "standard", "rbf", 2), "minimum", True),
        (Case("sensor", "standard", "rbf", 2), "per_deviation", True),
    ],
    ids=str,
)
def test_without_a_term_the_bound_is_broken(case, constant, low_parts):
    replay, batch, errors, _ = summed(case, low_parts)
    assert replay.in_integers
    own = replace(replay.sum, **{constant: getattr(replay.sum, constant) * 0.0})
    assert broken(replace(replay, sum=own).summed(batch).bound, errors) > 0


@pytest.mark.parametrize("low_parts", [False, True], ids=["plain", "low"])
def test_nearly_all_that_double_settles_is_settled(low_parts):
    """Of inputs that float32 leaves open, next to each other in float32: the hardest there are."""
    certified = np.zeros(2)
    for number in (0, 1):
        plain = QUICK[number].case.case.emit("host")
        machine = run_passes(plain.machine, centers=False)
        ordinary = ordinary_inputs(machine, 16)
        X = neighbours(plain.program, plain.queries, 60)
        batch = Batch.of(X, plain.program.n_decisions)
        for n, target in enumerate((HOST, in_integers(HOST))):
            replay = lower_replay(machine, target, plain.program, ordinary, low_parts)
            certified[n] += replay.run(batch).settled.sum()
    assert certified[1] > 0.95 * certified[0]
    if low_parts:
        assert certified[1] > 150


@pytest.mark.parametrize("case", QUICK[:4], ids=str)
def test_a_program_is_stored_and_checked(case):
    program = case.emit("host").program
    again = storage.load(storage.save(program), "program.npz")
    X = case.emit("host").queries[:60]
    np.testing.assert_array_equal(interpret(program, X).results, interpret(again, X).results)
    assert str(again) == str(program)
    own = program.replay.sum
    if isinstance(own, LongSum):
        for name in ("vectors", "coefficients"):
            changed = getattr(own, name).copy()
            changed.flat[0] += own.step if name == "coefficients" else 1
            with pytest.raises(ValueError, match=name):
                other = replace(program.replay, sum=replace(own, **{name: changed}))
                replace(program, replay=other)


def claims(case: InIntegers, X: np.ndarray, result: RunResult) -> None:
    """Check every interval and every certified label that the C gave in the replay."""
    assert result.self_test == Status.OK
    real = RealModel(case.case.case.fitted())
    answers, _ = answers_of(result.records)
    replayed = answers["stage"] == answers["stage"].max()
    assert answers["certified"][replayed].any()
    for x, answer in zip(X[replayed], answers[replayed], strict=True):
        exact = real.decisions(x)
        ends = mpf(float(answer["lower"])), mpf(float(answer["upper"]))
        assert any(ends[0] <= f <= ends[1] for f in exact)
        if answer["certified"]:
            assert answer["label"] == real.label(exact)


@pytest.mark.exhaustive
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("case", every_nth(QUICK[:3], 2))
def test_claims_hold_where_the_compiler_contracts(case, compiler, tmp_path):
    """reliability 32: bounds hold with and without FMA."""
    need_fma()
    need(compiler)
    emitted = catalogue.emitted(case, "host")
    claims(case, emitted.queries, run(emitted, emitted.queries, tmp_path, compiler, True))


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", every_nth(QUICK[:3], 2))
def test_claims_hold_where_subnormals_are_flushed(case, tmp_path):
    """reliability 34: subnormals flushed: bounds tolerate it."""
    need("gcc")
    if platform.machine() != "x86_64":
        pytest.skip("this processor has no MXCSR register")
    emitted = catalogue.emitted(case, "host")
    tiny = 2.0 ** np.random.default_rng(3).uniform(-149, -60, (40, emitted.queries.shape[1]))
    X = np.concatenate([emitted.queries, tiny.astype(np.float32)])
    with flushing_subnormals(tmp_path, emitted):
        result = run(emitted, X, tmp_path, "gcc", fused=False)
    claims(case, X, result)
