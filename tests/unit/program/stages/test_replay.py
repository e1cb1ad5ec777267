"""The replay answers what float32 leaves open, and only that, from the received input."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from mpmath import mpf
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC, LinearSVC

from kit.lowered import lowered
from kit.real_model import RealModel
from kit.replays import neighbours
from kmcompile.errors import UsageError
from kmcompile.kernels import Linear, Rbf
from kmcompile.lower import lower
from kmcompile.lower.replay import add_replay, lower_replay
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.likely_inputs import ordinary_inputs
from kmcompile.numeric.batch import Batch
from kmcompile.passes import run_passes
from kmcompile.program import storage
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum
from kmcompile.target import load_target

HOST = load_target("host")


def with_replay(machine: KernelMachine, program: Program, low: bool = True) -> Program:
    ordinary = ordinary_inputs(machine, 32)
    return replace(program, replay=lower_replay(machine, HOST, program, ordinary, low))


def fitted(*steps: object, X: np.ndarray, y: np.ndarray, **parameters: object):
    low = lowered(make_pipeline(*steps, SVC(**parameters)).fit(X, y))
    return low, with_replay(run_passes(low.machine), low.program), RealModel(low.estimator)


def cancer() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_breast_cancer(return_X_y=True)
    return X[:200], y[:200]


def check(program: Program, real: RealModel, X: np.ndarray) -> int:
    """Check every interval and label of the replay; return how many it certified."""
    results = interpret(program, X).results
    assert (results["status"] == Status.OK).all()
    certified = 0
    for x, answer in zip(X, results, strict=True):
        exact = real.decisions(x)
        assert any(mpf(float(answer["lower"])) <= f <= mpf(float(answer["upper"])) for f in exact)
        if answer["certified"]:
            assert answer["label"] == real.label(exact)
            certified += answer["stage"] == 1
    return certified


MODELS = {
    "standard": lambda: fitted(StandardScaler(), X=cancer()[0], y=cancer()[1]),
    "pca": lambda: fitted(StandardScaler(), PCA(6), X=cancer()[0], y=cancer()[1]),
    "l2": lambda: fitted(Normalizer(), X=cancer()[0], y=cancer()[1], C=1e4),
    "poly": lambda: fitted(
        StandardScaler(), X=cancer()[0], y=cancer()[1], kernel="poly", coef0=1.0
    ),
    "sensor": lambda: fitted(
        StandardScaler(), X=1000 + 0.01 * StandardScaler().fit_transform(cancer()[0]), y=cancer()[1]
    ),
}


@pytest.mark.few
@pytest.mark.parametrize("model", MODELS)
def test_neighbours_in_float32_that_part_are_certified(model):
    """Their f is about a unit in the last place of the input from 0: float32 certifies none.

    But for the sensor, of which float32 sees a hundred values.
    """
    low, program, real = MODELS[model]()
    X = neighbours(low.program, ordinary_inputs(low.machine, 64), 6)
    open_ = ~low.answers(X).results["certified"]
    assert open_.all() or model == "sensor"
    assert check(program, real, X) == open_.sum()


@pytest.mark.parametrize("model", MODELS)
def test_support_vectors_and_their_neighbours_are_right(model):
    low, program, real = MODELS[model]()
    trained = ordinary_inputs(low.machine, 12)
    check(program, real, np.concatenate([trained, np.nextafter(trained, np.float32(np.inf))]))


@pytest.mark.parametrize("model", ["standard", "l2"])
def test_tiny_and_large_inputs_are_right(model):
    low, program, real = MODELS[model]()
    shape = (12, low.program.n_features)
    rng = np.random.default_rng(0)
    tiny = rng.choice([-1.0, 1.0], shape) * 2.0 ** rng.uniform(-149, -100, shape)
    large = rng.choice([-1.0, 1.0], shape) * float(low.prepare.limit)
    X = np.concatenate([tiny, large, np.zeros((1, shape[1]))]).astype(np.float32)
    check(program, real, X[low.answers(X).results["status"] == Status.OK])


def symmetric(intercept: float) -> KernelMachine:
    """Return f(x) = exp(-(x - 1)^2) - exp(-(x + 1)^2) + b, which is 0 at 0 for b = 0."""
    return KernelMachine(
        kind="SVC",
        task=Task.BINARY,
        kernel=Rbf(gamma=1.0),
        support_vectors=np.array([[-1.0], [1.0]]),
        dual_coef=np.array([[-1.0, 1.0]]),
        intercept=np.array([intercept]),
        classes=(0, 1),
        n_features=1,
    )


def symmetric_program(intercept: float) -> Program:
    machine = symmetric(intercept)
    known = np.array([[-1.0], [1.0]], dtype=np.float32)
    return with_replay(machine, lower(machine, HOST, "iris", known))


def test_f_of_exactly_0_is_never_certified():
    answer = interpret(symmetric_program(0.0), np.zeros((1, 1), np.float32)).results[0]
    assert answer["stage"] == 1
    assert not answer["certified"]
    assert answer["lower"] <= 0.0 <= answer["upper"]


@pytest.mark.parametrize("f", [1e-12, -1e-12, 1e-14, -1e-14])
def test_a_decision_far_below_float32_is_certified(f):
    answer = interpret(symmetric_program(f), np.zeros((1, 1), np.float32)).results[0]
    assert answer["stage"] == 1
    assert answer["certified"]
    assert answer["label"] == (f > 0)
    assert answer["lower"] <= f <= answer["upper"]


def flushing(program: Program, x: float) -> tuple[float, float]:
    """Return decision and bound for an input that the machine reads as 0."""
    assert program.replay is not None
    batch = Batch.of(np.array([[0.0 if abs(x) < 2.0**-126 else x]], np.float32), 1)
    summed = program.replay.summed(batch)
    return float(summed.decision[0, 0]), float(summed.bound[0, 0])


def test_a_subnormal_input_that_is_read_as_0_is_within_the_bound():
    """f(x) = x: all else that is rounded is far smaller."""
    machine = replace(symmetric(0.0), kernel=Linear(), support_vectors=np.array([[0.0], [1.0]]))
    known = np.array([[-1.0], [1.0]], dtype=np.float32)
    program = with_replay(machine, lower(machine, HOST, "iris", known))
    x = float(np.nextafter(np.float32(2.0**-126), np.float32(0.0)))
    f, bound = flushing(program, x)
    assert abs(f - x) <= bound
    assert program.replay is not None
    without = replace(program, replay=replace(program.replay, input_error=np.float64(0.0)))
    f, bound = flushing(without, x)
    assert abs(f - x) > bound


def test_what_float32_certifies_is_not_replayed():
    program = symmetric_program(0.0)
    X = np.linspace(-2, 2, 401, dtype=np.float32)[:, None]
    answers = interpret(program, X)
    plain = interpret(replace(program, replay=None), X)
    replayed = answers.results["stage"] == 1
    assert np.array_equal(replayed, ~plain.results["certified"])
    np.testing.assert_array_equal(answers.results[~replayed], plain.results[~replayed])
    np.testing.assert_array_equal(answers.decisions, plain.decisions)
    assert np.array_equal(answers.replay_operations > 0, replayed)
    assert (answers.results["kernel_evals"] == np.where(replayed, 4, 2)).all()


def test_the_sum_holds_the_tables_of_float32_with_their_low_parts():
    low, program, _ = MODELS["standard"]()
    replay, exact = program.replay, low.program.ends.exact
    assert replay is not None
    assert isinstance(replay.sum, ExactSum) and isinstance(exact, ExactSum)
    np.testing.assert_array_equal(
        replay.sum.vectors, exact.vectors.astype(np.float64) + replay.low_vectors
    )
    np.testing.assert_array_equal(
        replay.sum.coefficients, exact.coefficients.astype(np.float64) + replay.low_coefficients
    )
    shared = {"replay_vectors", "replay_coefficients", "replay_group_ends"}
    assert not shared & {table.name for table in program.tables()}


def test_pixels_have_low_parts_of_the_coefficients_only():
    X, y = load_digits(n_class=2, return_X_y=True)
    _, program, _ = fitted(X=X[:150], y=y[:150], gamma=0.001)
    assert program.replay is not None
    assert not program.replay.has_low_vectors
    names = {table.name for table in program.tables()}
    assert "replay_vectors_low" not in names
    alone = replace(program, replay=None).tables()
    added = program.table_bytes - sum(table.n_bytes for table in alone)
    assert added <= program.replay.low_coefficients.nbytes + 16


def test_low_parts_are_taken_where_they_pay_and_fit():
    low, _, _ = MODELS["standard"]()
    machine, ordinary = run_passes(low.machine), ordinary_inputs(low.machine, 32)

    def taken(room):
        program, _ = add_replay(machine, HOST, low.program, ordinary, room, required=True)
        return program.replay.has_low_vectors

    assert taken(None)
    assert taken(1_000_000)
    assert not taken(1_000)


@pytest.mark.parametrize("kind", ["sign", "vote", "argmax"])
def test_stored_and_loaded_programs_answer_the_same(kind):
    X, y = load_digits(n_class=2 if kind == "sign" else 4, return_X_y=True)
    estimator = LinearSVC() if kind == "argmax" else SVC(break_ties=True)
    low = lowered(make_pipeline(StandardScaler(), estimator).fit(X[:120], y[:120]))
    program = with_replay(run_passes(low.machine), low.program)
    again = storage.load(storage.save(program), "program.npz")
    queries = neighbours(low.program, ordinary_inputs(low.machine, 40), 8)
    first, second = interpret(program, queries), interpret(again, queries)
    assert (first.results["stage"] == 1).any()
    np.testing.assert_array_equal(first.results, second.results)


def test_a_target_whose_double_is_no_float64_has_no_replay():
    machine = symmetric(0.0)
    small = replace(HOST, name="avr", program=replace(HOST.program, double_bits=32))
    known = np.array([[-1.0], [1.0]], dtype=np.float32)
    program = lower(machine, small, "iris", known)
    with pytest.raises(UsageError, match="has 32 bits, must be 64"):
        lower_replay(machine, small, program, known, False)


def test_the_bound_is_that_of_float64():
    low, program, _ = MODELS["standard"]()
    assert program.replay is not None
    X = ordinary_inputs(low.machine, 32)
    bounds = program.replay.summed(Batch.of(X, 1)).bound
    assert np.median(low.answers(X).bounds) / np.median(bounds) > 2.0**20
