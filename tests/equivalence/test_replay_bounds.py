"""The replay's bounds hold in real arithmetic, for every kernel behind every preprocessing.

The real numbers are scikit-learn's attributes with 50 digits (`RealModel`).
"""

from __future__ import annotations

import platform
from dataclasses import fields, replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from bound_cases import REFUSED, Case, accepted, cases, compiled, queries
from mpmath import mp, mpf

from kit import catalogue, replays
from kit.covering import by_fields, every_nth
from kit.lowered import Lowered
from kit.real_model import DIGITS, RealModel
from kit.replays import neighbours
from kit.roundings import flushing_subnormals, need_fma, run
from kit.tools import need
from kmcompile.lower.replay import lower_replay
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.numeric.batch import Batch
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Status
from kmcompile.program.stages import Replay
from kmcompile.run import RunResult
from kmcompile.steps import Normalization
from kmcompile.target import load_target
from kmcompile.verify.records import answers_of

EVERY_NTH = 5  # coprime to the numbers of classifiers, chains and data
N_QUERIES = 40

FOLDED = "nystroem"
"""Its weights are worked out in float64 from scikit-learn's: the machine that the replay bounds."""

CASES = [
    case
    for case in cases()
    if case.classifier != FOLDED and (case.data, case.chain, case.classifier) not in REFUSED
][::EVERY_NTH]


@cache
def summed(case: Case, low_parts: bool) -> tuple[Replay, Batch, np.ndarray, list[list[Any]]]:
    """Return the replay, its queries, the errors of its decisions and the real decisions."""
    low, real = compiled(case)
    ordinary = ordinary_inputs(low.machine, 16)
    machine = run_passes(low.machine)
    replay = lower_replay(machine, load_target("host"), low.program, ordinary, low_parts)
    X = queries(low, case, N_QUERIES, seed=7)
    X = np.concatenate([X, neighbours(low.program, X, 4), nearly_zero(low, X[:2])])
    batch = Batch.of(X, low.program.n_decisions)
    decisions = replay.summed(batch).decision
    exact = [real.decisions(x) for x in X]
    with mp.workdps(DIGITS):
        errors = [
            [abs(mpf(f) - e) for f, e in zip(row, reals, strict=True)]
            for row, reals in zip(decisions.tolist(), exact, strict=True)
        ]
    return replay, batch, np.array(errors), exact


def nearly_zero(low: Lowered, X: np.ndarray) -> np.ndarray:
    """Return rows of about the size below which a Normalizer, as the first step, divides nothing.

    There the replay cannot tell which side a row is on; only around it a normalised row is unknown.
    """
    if not isinstance(next(iter(low.machine.preprocessing), None), Normalization):
        return X[:0]
    rows = X.astype(np.float64)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    sizes = 2.0 ** np.arange(-50.0, -46.0, 0.5)
    around = (sizes[:, None, None] * rows).reshape(-1, X.shape[1])
    return accepted(low, around.astype(np.float32))


def broken(bounds: np.ndarray, errors: np.ndarray) -> int:
    """Return how many errors are larger than their bounds."""
    pairs = zip(bounds.ravel().tolist(), errors.ravel().tolist(), strict=True)
    return sum(error > mpf(bound) for bound, error in pairs)


@pytest.mark.few
@pytest.mark.parametrize("low_parts", [False, True], ids=["plain", "low"])
@pytest.mark.parametrize("case", by_fields(CASES))
def test_the_bounds_hold_the_real_decisions(case, low_parts):
    replay, batch, errors, _ = summed(case, low_parts)
    result = replay.summed(batch)
    assert result.decision.dtype == result.bound.dtype == np.float64
    assert broken(result.bound, errors) == 0


@pytest.mark.few
@pytest.mark.parametrize("case", by_fields(CASES))
def test_certified_labels_and_intervals_are_right(case):
    replay, batch, _, exact = summed(case, True)
    _, real = compiled(case)
    answer = replay.run(batch)
    for row, decisions in enumerate(exact):
        if answer.settled[row]:
            assert answer.label[row] == real.label(decisions)
        ends = mpf(float(answer.lower[row])), mpf(float(answer.upper[row]))
        assert any(ends[0] <= f <= ends[1] for f in decisions)


# Each term with a model and data on which the bound is broken without it; those of the steps that
# are not here are in tests/unit/program/stages/test_prepare_deviation.py.
TERMS = [
    ("kernel.shift", Case("ordinary", "standard", "rbf_narrow", 2), False),
    ("kernel.vector_error", Case("ordinary", "standard", "rbf_narrow", 2), False),
    ("kernel.z_error", Case("ordinary", "clip", "rbf_narrow", 2), False),
    ("kernel.value_error", Case("ordinary", "pca_max", "rbf_wide", 2), False),
    ("sum.final_factor", Case("ordinary", "pca_max", "rbf", 2), False),
    ("sum.result_error", Case("ordinary", "pca_max", "rbf_narrow", 2), True),
    ("Normalize.gain", Case("ordinary", "pca_max", "rbf", 2), True),
    ("Scale.gain", Case("tiny", "l2_standard", "rbf", 2), True),
    ("kernel.per_deviation", Case("sensor", "clip", "sigmoid", 2), True),
    ("kernel.per_length", Case("ordinary", "l1", "sigmoid_steep", 2), False),
    ("kernel.value_error", Case("ordinary", "whiten", "sigmoid_steep", 2), False),
    ("Scale.minimum", Case("sensor", "clip", "sigmoid", 2), True),
    ("Normalize.relative", Case("sensor", "l2_standard", "linear", 2), True),
    ("sum.per_length", Case("ordinary", "standard", "linear", 2), False),
    ("sum.per_deviation", Case("sensor", "l2_standard", "linear", 2), True),
    ("sum.result_error", Case("tiny", "raw", "linear", 2), True),
]


@pytest.mark.few
@pytest.mark.parametrize(("term", "case", "low_parts"), TERMS, ids=str)
def test_without_a_term_the_bound_is_broken(term, case, low_parts):
    replay, batch, errors, _ = summed(case, low_parts)
    changed = without(replay, term.split("."))
    assert broken(changed.summed(batch).bound, errors) > 0


def without(value: Any, path: list[str]) -> Any:
    """Return the object with the constant at the end of a path set to 0; steps go by class."""
    if len(path) == 1:
        found = getattr(value, path[0])
        return replace(value, **{path[0]: found * 0})
    for field in fields(value):
        found = getattr(value, field.name)
        if field.name == path[0]:
            return replace(value, **{field.name: without(found, path[1:])})
        if field.name in ("prepare", "sum") and path[0] not in ("prepare", "sum"):
            changed = _within(found, path)
            if changed is not None:
                return replace(value, **{field.name: changed})
    raise AssertionError(f"there is no {'.'.join(path)}")


def _within(stage: Any, path: list[str]) -> Any:
    """Return a stage of the replay with the constant set to 0, None if it has none of it."""
    if hasattr(stage, path[0]):
        return without(stage, path)
    for number, step in enumerate(getattr(stage, "steps", ())):
        if type(step).__name__ == path[0]:
            steps = list(stage.steps)
            steps[number] = without(step, path[1:])
            return replace(stage, steps=tuple(steps))
    return None


def check_claims(case: replays.Replayed, X: np.ndarray, result: RunResult) -> None:
    """Check every interval and every certified label that the C gave."""
    assert result.self_test == Status.OK
    real = RealModel(case.case.fitted())
    answers, _ = answers_of(result.records)
    replayed = answers["stage"] == 1
    assert replayed.any()
    assert (replayed & answers["certified"]).any() or not case.low_parts
    for x, answer in zip(X[replayed], answers[replayed], strict=True):
        exact = real.decisions(x)
        ends = mpf(float(answer["lower"])), mpf(float(answer["upper"]))
        assert any(ends[0] <= f <= ends[1] for f in exact)
        if answer["certified"]:
            assert answer["label"] == real.label(exact)


@pytest.mark.exhaustive
@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("case", every_nth([*replays.CORE, *replays.SPARSE], 5))
def test_the_replay_is_right_where_the_compiler_contracts(case, compiler, tmp_path):
    """reliability 32: bounds hold with and without FMA."""
    need_fma()
    need(compiler)
    emitted = catalogue.emitted(case, "host")
    result = run(emitted, emitted.queries, tmp_path, compiler, fused=True)
    check_claims(case, emitted.queries, result)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", every_nth([*replays.CORE, *replays.SPARSE], 5))
def test_the_replay_is_right_where_subnormals_are_flushed(case, tmp_path):
    """reliability 34: subnormals flushed: bounds tolerate it."""
    need("gcc")
    if platform.machine() != "x86_64":
        pytest.skip("this processor has no MXCSR register")
    emitted = catalogue.emitted(case, "host")
    shape = (40, emitted.queries.shape[1])
    tiny = 2.0 ** np.random.default_rng(3).uniform(-149, -60, shape)
    X = np.concatenate([emitted.queries, tiny.astype(np.float32)])
    with flushing_subnormals(tmp_path, emitted):
        result = run(emitted, X, tmp_path, "gcc", fused=False)
    check_claims(case, X, result)
