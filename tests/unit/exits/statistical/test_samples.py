"""Calibration samples: what the machine says to them, what they support, and their parts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

from kit.catalogue import CORE, Case
from kit.function_kernels import load_machine
from kit.lowered import program_of
from kit.shared_data import data_file
from kmcompile import readers
from kmcompile.errors import InputError
from kmcompile.exits.candidates.samples import accepted_rows, require_samples
from kmcompile.exits.statistical.binomial import clopper_pearson_upper
from kmcompile.exits.statistical.risk import (
    Control,
    least_risk,
    samples_needed,
)
from kmcompile.exits.statistical.samples import (
    ENOUGH_REST,
    ENOUGH_SHARE,
    LEAST_REST,
    LEAST_REST_SHARE,
    calibration_samples,
    decision_values,
    require_support,
    split,
    split_repeated,
    supported_risk,
)
from kmcompile.exits.statistical.training import TRAINING_SHARE, first_of_equal, training_points
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.likely_inputs import edge_inputs
from kmcompile.model.reference import evaluate
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import Status, interpret
from kmcompile.request.counted import Counted

CONTROLS: tuple[Control, ...] = ("guaranteed", "expected")

MODELS: dict[str, tuple[Any, Any]] = {
    "scaled rbf": (load_breast_cancer, make_pipeline(StandardScaler(), SVC(C=10))),
    "normalised poly": (
        load_digits,
        make_pipeline(Normalizer(), SVC(kernel="poly", degree=9, gamma=1, coef0=0)),
    ),
    "pca sigmoid": (
        load_breast_cancer,
        make_pipeline(StandardScaler(), PCA(8), SVC(kernel="sigmoid", coef0=0.1)),
    ),
    "raw rbf": (load_digits, SVC(gamma=0.001, break_ties=True)),
}


@pytest.fixture(scope="module", params=MODELS)
def trained(request: pytest.FixtureRequest) -> tuple[KernelMachine, np.ndarray, np.ndarray]:
    """Return a machine after the passes, its training samples and others as float32."""
    load, estimator = MODELS[request.param]
    X, y = load(return_X_y=True)
    X_train, X_other, y_train, _ = train_test_split(X, y, random_state=0)
    # Trained on float64, which the C never sees.
    machine = run_passes(readers.load_model(estimator.fit(X_train, y_train)))
    return machine, X_train.astype(np.float32), X_other.astype(np.float32)


def allowed_error(machine: KernelMachine, X: np.ndarray) -> np.ndarray:
    """Return how far two float64 evaluations can be apart, shape (n, n_decisions)."""
    return 2 * evaluate(machine, X).error


@pytest.mark.parametrize("case", CORE, ids=str)
def test_decisions_are_those_of_the_reference(case: Case) -> None:
    machine = run_passes(load_machine(case.fitted()))
    X = np.random.default_rng(5).normal(size=(300, case.n_features)).astype(np.float32) * 2 + 1
    difference = np.abs(decision_values(machine, X) - evaluate(machine, X).decisions)
    assert (difference <= allowed_error(machine, X)).all()


def test_every_vector_is_found_among_the_training_samples(
    trained: tuple[KernelMachine, np.ndarray, np.ndarray],
) -> None:
    machine, X_train, _ = trained
    points = training_points(machine, X_train)
    assert points.found_share == 1.0
    rows = np.flatnonzero(points.vector >= 0)
    prepared = machine.prepare(X_train[rows].astype(np.float64))
    distance = np.abs(prepared - machine.support_vectors[points.vector[rows]]).max(axis=1)
    others = np.abs(prepared - machine.support_vectors[points.vector[rows] - 1]).max(axis=1)
    assert distance.max() < 1e-3 * others.min()


def test_samples_that_were_not_trained_on_are_no_vectors(
    trained: tuple[KernelMachine, np.ndarray, np.ndarray],
) -> None:
    machine, _, X_other = trained
    assert training_points(machine, X_other).found_share == 0.0
    samples = calibration_samples(machine, X_other)
    assert not samples.training
    assert not samples.is_vector.any()
    reference = evaluate(machine, X_other)
    sure = (np.abs(reference.decisions) > allowed_error(machine, X_other)).all(axis=1)
    assert (samples.labels == reference.labels)[sure].all()


def five_digits(X: np.ndarray) -> np.ndarray:
    return np.array([[float(f"{value:.5g}") for value in row] for row in X])


@pytest.mark.parametrize("noise", [None, 1e-6, 1e-5, 1e-4, 1e-3])
def test_training_samples_are_recognised_after_rounding_and_with_noise(
    trained: tuple[KernelMachine, np.ndarray, np.ndarray], noise: float | None
) -> None:
    machine, X_train, X_other = trained
    rng = np.random.default_rng(8)

    def written(X: np.ndarray) -> np.ndarray:
        moved = 0.0 if noise is None else noise * rng.normal(size=X.shape) * X_train.std(axis=0)
        return (five_digits(X) if noise is None else X + moved).astype(np.float32)

    assert training_points(machine, written(X_train)).training
    assert not training_points(machine, written(X_other)).training


def test_training_samples_are_judged_without_their_own_vector(
    trained: tuple[KernelMachine, np.ndarray, np.ndarray],
) -> None:
    machine, X_train, _ = trained
    samples = calibration_samples(machine, X_train)
    assert samples.training
    vector = training_points(machine, X_train).vector
    assert np.array_equal(samples.is_vector, vector >= 0)
    for row in np.flatnonzero(samples.is_vector)[:20]:
        dual_coef = machine.dual_coef.copy()
        dual_coef[:, vector[row]] = 0.0
        without = evaluate(replace(machine, dual_coef=dual_coef), X_train[row : row + 1])
        bound = allowed_error(machine, X_train[row : row + 1])
        assert (np.abs(samples.decisions[row] - without.decisions) <= bound).all()
        if (np.abs(without.decisions) > bound).all():
            assert samples.labels[row] == without.labels[0]


def test_leaving_out_costs_the_machine_agreement_with_its_own_labels() -> None:
    X, y = load_digits(return_X_y=True)
    estimator = SVC(gamma=0.003).fit(X[:900], y[:900])
    machine = run_passes(readers.load_model(estimator))
    samples = calibration_samples(machine, X[:900].astype(np.float32))
    assert (samples.labels != estimator.predict(X[:900])).any()


@pytest.mark.parametrize("name", ["phoneme", "satimage", "wisdm"])
def test_real_data_are_told_apart_whatever_the_trainer_rounded(name: str) -> None:
    with np.load(data_file(name)) as data:
        X, y, X_test = data["X_train"][:1500], data["y_train"][:1500], data["X_test"]
    for dtype in (np.float32, np.float64):
        estimator = make_pipeline(StandardScaler(), SVC(C=10)).fit(X.astype(dtype), y)
        machine = run_passes(readers.load_model(estimator))
        assert training_points(machine, X.astype(np.float32)).found_share == 1.0
        assert not training_points(machine, X_test.astype(np.float32)).training


@pytest.mark.parametrize("name", ["skin", "a9a", "letter"])
def test_equal_samples_do_not_make_independent_data_training_data(name: str) -> None:
    with np.load(data_file(name)) as data:
        X, y = data["X_train"].astype(np.float32), data["y_train"]
    order = np.random.default_rng(3).permutation(len(X))
    own, fresh = order[:1500], order[1500:16_500]
    estimator = make_pipeline(StandardScaler(), SVC(C=10)).fit(X[own], y[own])
    machine = run_passes(readers.load_model(estimator))
    points = training_points(machine, X[fresh])
    assert points.found_share > TRAINING_SHARE
    assert not points.training
    assert training_points(machine, X[own]).training
    distinct = X[fresh][first_of_equal(X[fresh])]
    assert not training_points(machine, distinct, points.repeated_share).training


def phoneme() -> tuple[KernelMachine, np.ndarray, np.ndarray]:
    """Return a machine and the rows that it was and was not trained on."""
    with np.load(data_file("phoneme")) as data:
        X, y, X_test = data["X_train"].astype(np.float32), data["y_train"], data["X_test"]
    estimator = make_pipeline(StandardScaler(), SVC(C=10)).fit(X, y)
    return run_passes(readers.load_model(estimator)), X, X_test.astype(np.float32)


def test_a_small_part_of_the_training_data_is_recognised_by_its_own_vectors() -> None:
    machine, X, X_test = phoneme()
    points = training_points(machine, X[:60])
    assert points.found_share < TRAINING_SHARE < points.vector_share
    assert points.training
    assert not training_points(machine, X_test[:60]).training


def test_training_data_that_are_repeated_are_recognised() -> None:
    machine, X, _ = phoneme()
    repeated = np.repeat(X[:300], 4, axis=0)
    points = training_points(machine, repeated)
    assert points.repeated_share == 1.0
    assert points.training
    distinct = repeated[first_of_equal(repeated)]
    assert np.array_equal(distinct, X[:300])
    assert training_points(machine, distinct, points.repeated_share).training


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("risk", [None, 1e-3, 0.01])
@pytest.mark.parametrize("n", [200, 777, 7635, 7982, 20_999, 100_000])
def test_parts_are_disjoint_and_complete(n: int, risk: float | None, control: Control) -> None:
    parts = split(n, risk, control)
    together = np.concatenate([parts.shape, parts.choice, parts.control.rows])
    assert np.array_equal(np.sort(together), np.arange(n))
    rest = len(parts.shape) + len(parts.choice)
    usual = max(LEAST_REST, LEAST_REST_SHARE * n)
    if rest < usual:
        assert rest >= max(ENOUGH_REST, ENOUGH_SHARE * n)
        assert risk is not None and control == "guaranteed"
        assert parts.control.n == samples_needed(risk, control, disagreements=1)
    assert len(parts.shape) >= len(parts.choice)
    again = split(n, risk, control)
    assert np.array_equal(again.control.rows, parts.control.rows)


@pytest.mark.parametrize("control", CONTROLS)
@pytest.mark.parametrize("n", [200, 350, 500, 2000, 6000])
def test_risk_that_the_message_names_is_supported(n: int, control: Control) -> None:
    with pytest.raises(InputError) as caught:
        require_support(n, 1e-4, control)
    first, second = str(caught.value).splitlines()
    named = float(second.split("--risk ")[1].split()[0])
    assert f"support a risk of {named:g} " in first
    require_support(n, named, control)
    most = int(first.split()[0].replace(",", ""))
    assert least_risk(most, control) <= named
    assert least_risk(split(n, named, control).control.n, control) <= named
    with pytest.raises(InputError):
        require_support(n, named * 0.9, control)
    enough = int(second.split("at least ")[1].split()[0].replace(",", ""))
    require_support(enough, 1e-4, control)
    with pytest.raises(InputError):
        require_support(enough - 1, 1e-4, control)


def test_where_samples_repeat_the_message_asks_for_twice_as_many() -> None:
    with pytest.raises(InputError) as caught:
        require_support(7999, 1e-3, "guaranteed", 8000, 4000)
    enough = int(str(caught.value).split("at least ")[1].split()[0].replace(",", ""))
    group = np.append(np.arange(enough), 0)
    n_control = split_repeated(group, Counted.whole(len(group))).control.n
    require_support(enough, 1e-3, "guaranteed", enough + 1, n_control)
    with pytest.raises(InputError):
        require_support(7999, 1e-3, "guaranteed", 8000, 0)
    assert supported_risk(7999, "guaranteed", 0) == 1.0


@pytest.mark.parametrize("n", [200, 2000, 7982])
def test_auto_takes_a_risk_that_its_control_part_supports(n: int) -> None:
    risk = supported_risk(n, "guaranteed")
    require_support(n, risk, "guaranteed")
    assert clopper_pearson_upper(0, split(n, None, "guaranteed").control.n) <= risk


def test_few_samples_are_refused() -> None:
    require_samples(200)
    with pytest.raises(InputError, match="199 usable samples"):
        require_samples(199)


def test_messages_say_that_near_copies_count_once() -> None:
    told = r"that count \(of 1,400: equal samples and near copies count once\)"
    with pytest.raises(InputError, match="150 usable samples " + told):
        require_samples(150, n_given=1400)
    with pytest.raises(InputError, match="of the 200 in --data " + told) as caught:
        require_support(200, 0.02, "guaranteed", 1400)
    assert "none nearly a copy of another" in str(caught.value)
    with pytest.raises(InputError) as plain:
        require_support(200, 0.02, "guaranteed", 200)
    assert "count once" not in str(plain.value)


@pytest.mark.parametrize("case", CORE, ids=str)
def test_accepted_rows_are_those_that_the_program_accepts(case: Case) -> None:
    machine = load_machine(case.fitted())
    program = program_of(machine)
    X = edge_inputs(machine, program.prepare.limit)
    expected = interpret(program, X).results["status"] == Status.OK
    assert 0 < expected.sum() < len(X)
    assert np.array_equal(accepted_rows(program.prepare, X), expected)


@pytest.mark.parametrize(("n", "allowed"), [(7635, 0), (7636, 1), (12_066, 1), (16_000, 2)])
def test_the_control_part_allows_a_disagreement_where_enough_samples_are_left(
    n: int, allowed: int
) -> None:
    control = split(n, 1e-3, "guaranteed").control.n
    assert control >= samples_needed(1e-3, disagreements=allowed)
    assert control < samples_needed(1e-3, disagreements=allowed + 1)
