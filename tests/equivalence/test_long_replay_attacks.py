"""Attacks on the replay in integers: inputs whose label it only just certifies, 50 digits and more.

Random machines in float32 and in integer formats, and machines of scikit-learn: narrow and wide
kernels, large coefficients, many classes, one class, normalizers before the kernel.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from mpmath import mpf
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC, OneClassSVM

from kit.fixed_sums import GRIDS, Case, codes_of, in_format, queries, random_machine
from kit.long_replays import in_integers
from kit.lowered import lowered, program_of
from kit.real_model import RealModel
from kit.replays import neighbours
from kmcompile.errors import InputError
from kmcompile.lower.integer_program import IntegerTableForm
from kmcompile.lower.replay import lower_replay
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import generate, ordinary_inputs
from kmcompile.numeric.batch import Batch
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import Replay

TARGET = in_integers("host")
FORMATS = [*GRIDS, "scaled int16", "scaled int8"]
_MOVED = 1000
_ROUNDS = 3
_CHECKED = 6


def hard_inputs(program: Program, replay: Replay, X: np.ndarray, seed: int) -> np.ndarray:
    """Return inputs with a decision as near as can be found to its bound, below and above it.

    From neighbours in float32 with other labels features move by some units in their last place,
    at random, again and again from those that came nearest.
    """
    rng = np.random.default_rng(seed)
    starts = neighbours(program, X, 2)
    found = starts
    for _ in range(_ROUNDS if len(starts) else 0):
        picked = starts[rng.integers(len(starts), size=_MOVED)]
        moved = picked + np.spacing(picked) * rng.integers(-9, 10, size=picked.shape)
        moved = moved.astype(np.float32)
        moved = moved[interpret(program, moved).results["status"] == Status.OK]
        result = replay.summed(Batch.of(moved, program.n_decisions))
        shares = (np.abs(result.decision) / result.bound).min(axis=1)
        order = np.argsort(np.where(shares > 1, shares, np.inf))
        starts = np.concatenate([moved[order[:_CHECKED]], moved[np.argsort(shares)[:_CHECKED]]])
        found = np.concatenate([found[:4], starts])
    return found


def certified(
    program: Program,
    replay: Replay,
    X: np.ndarray,
    decisions: Callable[[np.ndarray], list[Any]],
    label: Callable[[list[Any]], int],
    coded: bool = False,
) -> int:
    """Check bounds, intervals and certified labels of accepted inputs; return how many of these."""
    X = X[interpret(program, X).results["status"] == Status.OK]
    batch = Batch.of(X.astype(np.float32), program.n_decisions)
    batch = batch if not coded else _coded(batch)
    result, answer = replay.summed(batch), replay.run(batch)
    for row, x in enumerate(X):
        exact = decisions(x)
        own = result.decision[row].tolist(), result.bound[row].tolist()
        assert all(abs(mpf(f) - e) <= mpf(b) for f, b, e in zip(*own, exact, strict=True))
        if answer.settled[row]:
            assert answer.label[row] == label(exact)
        ends = mpf(float(answer.lower[row])), mpf(float(answer.upper[row]))
        assert any(ends[0] <= f <= ends[1] for f in exact)
    return int(answer.settled.sum())


def _coded(batch: Batch) -> Batch:
    return replace(batch, coded=np.ones(len(batch.x), dtype=bool))


def attack_in_float32(machine: KernelMachine, seed: int, low_parts: bool) -> tuple[bool, int]:
    """Check the replay of a machine; return whether it is in integers, and what is certified."""
    passed, program = run_passes(machine), program_of(machine)
    case = Case(machine, None, program)  # type: ignore[arg-type]  # float32 has no codes
    ordinary = ordinary_inputs(machine, 16)
    replay = lower_replay(passed, TARGET, program, ordinary, low_parts)
    X = np.concatenate([generate(machine, 40), machine_vectors(machine)])
    X = X[interpret(program, X).results["status"] == Status.OK]
    X = np.concatenate([X[::12], hard_inputs(program, replay, X, seed)])
    return replay.in_integers, certified(program, replay, X, case.decisions, case.label)


def machine_vectors(machine: KernelMachine) -> np.ndarray:
    """Return inputs that the preprocessing takes next to the first vectors."""
    X = machine.support_vectors[:8]
    for step in reversed(machine.preprocessing):
        X = X / step.factor + step.offset
    return X.astype(np.float32)


def test_machines_in_float32():
    check_machines(range(8))


@pytest.mark.exhaustive
def test_many_machines_in_float32():
    check_machines(range(100, 300))


def check_machines(seeds: range) -> None:
    found = [attack_in_float32(random_machine(n, None), n, n % 2 == 0) for n in seeds]
    assert sum(integers for integers, _ in found) > len(found) / 3
    assert sum(labels for integers, labels in found if integers) > len(found)


def attack_in_format(kind: str, seed: int) -> tuple[bool, int]:
    """Check the replay of a machine in an integer format; raw inputs and codes."""
    grid = kind if kind in GRIDS else None
    layout = IntegerTableForm(sparse=seed % 2 == 0, wide_coefficients=seed % 3 == 0)
    number_format = "lossless" if grid else kind.removeprefix("scaled ")
    try:
        case = in_format(random_machine(seed, grid), number_format, layout)
    except InputError:
        return False, 0
    program, none = case.program, np.zeros((0, 0), dtype=np.float32)
    replay = lower_replay(
        case.coded.machine, TARGET, program, none, seed % 2 == 1, coded=case.coded
    )
    X = queries(case, 2, seed)
    codes = codes_of(case, X)
    X = X[interpret(program, X).results["status"] == Status.OK]
    if len(X):
        X = np.concatenate([X, hard_inputs(program, replay, X, seed)])
    labels = certified(program, replay, X, case.decisions, case.label)
    labels += certified(program, replay, codes, case.decisions, case.label, coded=True)
    return replay.in_integers, labels


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", FORMATS[2::3])
def test_machines_in_integer_formats(kind):
    check_formats(kind, range(2))


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", FORMATS)
def test_many_machines_in_integer_formats(kind):
    check_formats(kind, range(100, 140))


def check_formats(kind: str, seeds: range) -> None:
    found = [attack_in_format(kind, seed) for seed in seeds]
    assert any(integers and labels for integers, labels in found)


def _digits(model: Any) -> Any:
    X, y = load_digits(return_X_y=True)
    return model.fit(X[:120], y[:120])


MODELS: dict[str, Callable[[], Any]] = {
    "many classes": lambda: _digits(SVC(gamma=0.001, C=10)),
    "narrow": lambda: _digits(SVC(gamma=0.02, C=10)),
    "large coefficients": lambda: _digits(make_pipeline(StandardScaler(), SVC(gamma=1e-6, C=1e8))),
    "one class": lambda: _digits(OneClassSVM(gamma=0.001, nu=0.3)),
    "normalizer": lambda: _digits(make_pipeline(Normalizer(), SVC(gamma=5.0, C=1e3))),
    "components": lambda: _digits(
        make_pipeline(PCA(9, whiten=True), Normalizer(), SVC(C=100, break_ties=True))
    ),
}


@pytest.mark.exhaustive
@pytest.mark.parametrize("low_parts", [False, True], ids=["plain", "low"])
@pytest.mark.parametrize("name", MODELS)
def test_machines_of_scikit_learn(name, low_parts):
    estimator = MODELS[name]()
    low, real = lowered(estimator), RealModel(estimator)
    machine = run_passes(low.machine)
    replay = lower_replay(machine, TARGET, low.program, ordinary_inputs(machine, 16), low_parts)
    assert replay.in_integers
    X = hard_inputs(low.program, replay, low.queries, 1)
    assert len(X) > 4
    X = np.concatenate([X, low.queries[:4]])
    assert certified(low.program, replay, X, real.decisions, real.label) > 0
    constants = {"minimum": replay.sum.minimum * 0.0, "per_deviation": replay.sum.minimum * 0.0}
    unbounded = replace(replay, sum=replace(replay.sum, **constants))
    with pytest.raises(AssertionError):
        certified(low.program, unbounded, X, real.decisions, real.label)
