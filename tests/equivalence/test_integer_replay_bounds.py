"""The replay of integer formats lies within its bounds of the trained machine, 60 digits."""

from __future__ import annotations

import platform
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from mpmath import mpf

from kit import catalogue, coded
from kit.covering import every_nth
from kit.emitted import Emitted
from kit.fixed_sums import GRIDS, Case, bisected, codes_of, in_format, queries, random_machine
from kit.real_model import RealModel
from kit.replays import neighbours
from kit.roundings import flushing_subnormals, need_fma, run
from kit.tools import need
from kmcompile.errors import InputError
from kmcompile.lower.integer_program import IntegerTableForm
from kmcompile.lower.replay import lower_replay
from kmcompile.numeric.batch import Batch
from kmcompile.program import storage
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages import Replay
from kmcompile.run import RunResult
from kmcompile.target import load_target
from kmcompile.verify.codes import codes_beside, query_words
from kmcompile.verify.records import answers_of

KINDS = [*GRIDS, "scaled int16", "scaled int8"]
SEEDS = range(6)
NO_INPUTS = np.zeros((0, 0), dtype=np.float32)


@cache
def case_of(kind: str, seed: int) -> Case | None:
    """Return a program, or None where gamma is refused."""
    grid = kind if kind in GRIDS else None
    layout = IntegerTableForm(sparse=seed % 2 == 0, wide_coefficients=seed % 3 == 0)
    try:
        number_format = "lossless" if grid else kind.removeprefix("scaled ")
        return in_format(random_machine(seed, grid), number_format, layout)
    except InputError:
        return None


@cache
def replay_of(case: Case, low_parts: bool) -> Replay:
    """Return the replay of a program."""
    target, machine = load_target("cortex-m7"), case.coded.machine
    return lower_replay(machine, target, case.program, NO_INPUTS, low_parts, coded=case.coded)


def asked(case: Case, replay: Replay, X: np.ndarray) -> tuple[Batch, Batch]:
    """Return inputs, float32 or codes, as the replay gets them, and its decisions."""
    batch = replace(
        Batch.of(X.astype(np.float32), case.program.n_decisions),
        coded=np.full(len(X), X.dtype != np.float32),
    )
    return batch, replay.summed(batch)


def shares(case: Case, replay: Replay, X: np.ndarray) -> np.ndarray:
    """Return |error| / bound of every decision; check every certified label and interval."""
    X, _ = case.answers(X)
    batch, summed = asked(case, replay, X)
    answer = replay.run(batch)
    found = []
    for row, x in enumerate(X):
        exact = case.decisions(x)
        pairs = zip(exact, summed.decision[row].tolist(), summed.bound[row].tolist(), strict=True)
        found.append([float(abs(f - mpf(decision)) / mpf(bound)) for f, decision, bound in pairs])
        if answer.settled[row]:
            assert answer.label[row] == case.label(exact)
        ends = mpf(float(answer.lower[row])), mpf(float(answer.upper[row]))
        assert any(ends[0] <= f <= ends[1] for f in exact)
    return np.array(found)


@pytest.mark.parametrize("low_parts", [False, True], ids=["plain", "low"])
@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_decisions_lie_within_their_bounds_of_the_real_numbers(kind, seed, low_parts):
    case = case_of(kind, seed)
    if case is None:
        return
    X = queries(case, 2, seed)
    X = np.concatenate([X, bisected(case, X)])
    for inputs in (X, codes_of(case, X)):
        assert shares(case, replay_of(case, low_parts), inputs).max(initial=0) <= 1


def largest_share(kind: str, changed: dict[str, Any]) -> float:
    """Return the largest |error| / bound of all machines of a kind with other constants."""
    largest = 0.0
    for seed in SEEDS:
        case = case_of(kind, seed)
        if case is None:
            continue
        replay = replay_of(case, True)
        constants = {name: getattr(replay.sum, name) * factor for name, factor in changed.items()}
        replay = replace(replay, sum=replace(replay.sum, **constants))
        X, _ = case.answers(queries(case, 2, seed))
        for inputs in (X, codes_of(case, X)):
            _, summed = asked(case, replay, inputs)
            exact = [case.decisions(x) for x in inputs]
            for f, g, bound in zip(exact, summed.decision, summed.bound, strict=True):
                shares_of_row = [
                    float(abs(a - mpf(b)) / mpf(c))
                    for a, b, c in zip(f, g.tolist(), bound.tolist(), strict=True)
                ]
                largest = max(largest, *shares_of_row)
    return largest


@pytest.mark.few
@pytest.mark.parametrize(
    ("kind", "constant"),
    [
        ("scaled int16", "minimum"),
        ("scaled int8", "minimum"),
        ("uint8", "minimum"),
        ("pixels", "per_deviation"),
        ("decimals", "per_deviation"),
    ],
)
def test_without_a_term_the_bound_is_broken(kind, constant):
    assert largest_share(kind, {}) <= 1
    assert largest_share(kind, {constant: 0.0}) > 1


@pytest.mark.few
@pytest.mark.parametrize("kind", KINDS)
def test_low_parts_and_exact_distances_make_bounds_smaller(kind):
    """A bound with low parts is never larger than one without, at the codes themselves."""
    for seed in SEEDS:
        case = case_of(kind, seed)
        if case is None:
            continue
        X, answers = case.answers(codes_of(case, queries(case, 2, seed)))
        plain, fine = (asked(case, replay_of(case, low), X)[1].bound for low in (False, True))
        assert (fine <= plain * (1 + 2.0**-17)).all()
        assert (plain <= answers.bounds).all()


def test_a_program_with_a_replay_is_stored_bit_for_bit():
    for kind in KINDS:
        case = case_of(kind, 1)
        assert case is not None
        program = replace(case.program, replay=replay_of(case, True))
        again = storage.load(storage.save(program), "program.npz")
        X = queries(case, 2, 1)
        for inputs in (X, codes_of(case, X)):
            np.testing.assert_array_equal(
                interpret(program, inputs).results, interpret(again, inputs).results
            )


def check_claims(emitted: Emitted, X: np.ndarray, result: RunResult) -> None:
    """Check every interval and every certified label of both entries, where the replay answered."""
    assert result.self_test == Status.OK
    case = next(c for c in coded.REPLAYED if catalogue.emitted(c, "host") is emitted)
    real, program = RealModel(case.made()), emitted.program
    assert program.scale is not None
    meant = program.scale.values(codes_beside(program, X))
    half = result.records.shape[1] // 2
    replayed = 0
    for inputs, records in ((X, result.records[:, :half]), (meant, result.records[:, half:])):
        answers, _ = answers_of(np.ascontiguousarray(records))
        for x, answer in zip(inputs, answers, strict=True):
            if answer["status"] != Status.OK or answer["stage"] != 1:
                continue
            replayed += 1
            exact = real.decisions(x)
            ends = mpf(float(answer["lower"])), mpf(float(answer["upper"]))
            assert any(ends[0] <= f <= ends[1] for f in exact)
            if answer["certified"]:
                assert answer["label"] == real.label(exact)
    assert replayed


def boundary_words(emitted: Emitted) -> tuple[np.ndarray, np.ndarray]:
    """Return neighbours in float32 that part, and the words of both entries."""
    X = neighbours(emitted.program, emitted.queries, 6)
    return X, query_words(X, codes_beside(emitted.program, X))


@pytest.mark.exhaustive
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("case", every_nth(coded.REPLAYED, 3))
def test_the_replay_is_right_where_the_compiler_contracts(case, compiler, tmp_path):
    """reliability 32: bounds hold with and without FMA."""
    need_fma()
    need(compiler)
    emitted = catalogue.emitted(case, "host")
    X, words = boundary_words(emitted)
    check_claims(emitted, X, run(emitted, words, tmp_path, compiler, fused=True))


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", every_nth(coded.REPLAYED, 3))
def test_the_replay_is_right_where_subnormals_are_flushed(case, tmp_path):
    """reliability 34: subnormals flushed: bounds tolerate it."""
    need("gcc")
    if platform.machine() != "x86_64":
        pytest.skip("this processor has no MXCSR register")
    emitted = catalogue.emitted(case, "host")
    X, words = boundary_words(emitted)
    with flushing_subnormals(tmp_path, emitted):
        result = run(emitted, words, tmp_path, "gcc", fused=False)
    check_claims(emitted, X, result)
