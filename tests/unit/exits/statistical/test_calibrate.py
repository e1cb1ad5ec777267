"""From options and a file to a program: what is promised, kept, refused and the same every time."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from calibration_cases import Case, digits, scaled_case
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from kit.covering import some
from kit.plans import plan_for
from kmcompile.errors import InputError, UsageError
from kmcompile.exits.candidates.room import Room, room_for_exits
from kmcompile.exits.certified.fits import certified_fits
from kmcompile.exits.statistical.binomial import clopper_pearson_lower
from kmcompile.exits.statistical.calibrate import Calibrated, calibrate
from kmcompile.exits.statistical.chooser import WORST_SHARE, WORTH_A_RISK
from kmcompile.exits.statistical.near_copies import groups_of
from kmcompile.exits.statistical.readings import Evidence
from kmcompile.exits.statistical.samples import split, split_repeated
from kmcompile.model.reference import evaluate
from kmcompile.program.cost import exact_operations, worst_operations
from kmcompile.program.interpreter import classify
from kmcompile.program.storage import save
from kmcompile.request.asked_stages import AskedStages
from kmcompile.request.budgets import Budgets
from kmcompile.request.counted import Counted

NAMES = ["digits", "digits of ten classes", "phoneme", "satimage"]
N_CALIBRATION = 2500
PROOFS = tuple(fit.kind.template for fit in certified_fits())


@cache
def case_of(name: str) -> Case:
    if name.startswith("digits"):
        return digits("rbf", 10 if "ten" in name else 2)
    case = scaled_case(name, 1200)
    return Case(case.estimator, case.X[:N_CALIBRATION], case.test)


def calibrated(
    case: Case, folder: Path, *, X: np.ndarray | None = None, room: Room | None = None, **given: Any
) -> Calibrated:
    """Return a calibration; without a room there are no certified exits, which take long to fit."""
    room = room or replace(case.room, stages=AskedStages(excluded=PROOFS))
    path = folder / "samples.npy"
    np.save(path, case.X if X is None else X)
    plan = plan_for(case.machine, data=path, **given)
    return calibrate(case.machine, case.program, plan, room, lambda text: None)


def control_part(case: Case, risk: float | None) -> Evidence:
    """Return the control samples of a calibration, and which of them count."""
    groups = groups_of(case.X, case.machine)
    if len(groups.firsts) == len(case.X):
        return split(len(case.X), risk, "guaranteed").control
    return split_repeated(groups.first, Counted.whole(len(case.X))).control


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """Return calibrations with an automatic risk, each made once."""
    made: dict[str, Calibrated] = {}

    def of(name: str) -> Calibrated:
        if name not in made:
            folder, case = tmp_path_factory.mktemp("data"), case_of(name)
            made[name] = calibrated(case, folder, room=case.room, risk="auto")
        return made[name]

    return of


@pytest.mark.parametrize("name", some(NAMES, ("digits",)))
def test_promised_risk_is_not_refuted_by_samples_held_out(name: str, found: Any) -> None:
    case, program = case_of(name), found(name).program
    promise = found(name).calibration.promise
    assert promise.control == "guaranteed"
    reference = evaluate(case.machine, case.test)
    results, _ = classify(program, case.test)
    early = results["stage"] < len(program.early_exits)
    unlike = int((early & (results["label"] != reference.labels)).sum())
    assert clopper_pearson_lower(unlike, len(case.test), 0.99) <= promise.upper_bound


@pytest.mark.parametrize("name", some(NAMES, ("digits",)))
def test_the_worst_case_is_limited(name: str, found: Any) -> None:
    """Statistical exits add at most a tenth, and with certified ones all add at most a quarter."""
    program, exact = found(name).program, case_of(name).program
    proves = any(not stage.is_calibrated for stage in program.early_exits)
    allowed = 1.25 if proves else 1.1
    assert worst_operations(program) <= allowed * exact_operations(exact)
    risky = [stage for stage in program.early_exits if stage.is_calibrated]
    added = sum(stage.added_operations(program.ends) for stage in risky)
    assert added <= 0.1 * sum(stage.operations() for stage in exact.stages)


@pytest.mark.parametrize("name", some(NAMES[:2], ("digits",)))
def test_early_exits_pay_on_samples_held_out(name: str, found: Any) -> None:
    case, program = case_of(name), found(name).program
    assert program.early_exits
    _, operations = classify(program, case.test)
    assert operations.mean() < exact_operations(case.program)


@pytest.mark.parametrize("name", some(NAMES, ("digits",)))
def test_disagreements_are_those_of_the_program_on_its_control_samples(
    name: str, found: Any
) -> None:
    case, made = case_of(name), found(name)
    promise = made.calibration.promise
    evidence = control_part(case, promise.requested)
    assert np.array_equal(made.held_out, case.X[evidence.rows])
    assert made.calibration.n_control == evidence.n
    results, _ = classify(made.program, made.held_out)
    rows = {row.tobytes(): label for row, label in zip(case.X, case.samples.labels, strict=True)}
    labels = np.array([rows[row.tobytes()] for row in made.held_out])
    early = results["stage"] < len(made.program.early_exits)
    unlike = early & (results["label"] != labels)
    assert evidence.worst(unlike)[:2] == (promise.n_samples, promise.disagreements)


@pytest.mark.parametrize("name", some(NAMES, ("digits",)))
def test_candidates_are_in_order_of_cost_and_the_exact_sum_is_one(name: str, found: Any) -> None:
    candidates = found(name).calibration.candidates
    costs = [candidate.mean_operations for candidate in candidates]
    assert costs[1:] == sorted(costs[1:])  # the first may have been widened since
    chosen = [candidate.chosen for candidate in candidates].index(True)
    if chosen > 0:  # those before it take a risk for less than a tenth of its operations
        assert candidates[chosen].stages[0].startswith(PROOFS)
        assert all(cost > WORTH_A_RISK * costs[chosen] for cost in costs[:chosen])
    assert sum(candidate.chosen for candidate in candidates) == 1
    assert ("exact_sum",) in [candidate.stages for candidate in candidates]


@pytest.mark.exhaustive
def test_same_samples_give_the_same_bytes_for_any_number_of_processes(
    found: Any, tmp_path: Path
) -> None:
    once = save(found("digits").program)
    case = case_of("digits")
    again = calibrated(case, tmp_path, room=case.room, risk="auto", n_jobs=2)
    assert save(again.program) == once


@pytest.mark.exhaustive
def test_risk_beyond_the_samples_is_refused_with_the_risk_to_ask_for(tmp_path: Path) -> None:
    with pytest.raises(InputError) as caught:
        calibrated(case_of("digits"), tmp_path, risk=1e-4)
    named = float(str(caught.value).split("--risk ")[1].split()[0])
    promise = calibrated(case_of("digits"), tmp_path, risk=named).calibration.promise
    assert (promise.requested, promise.upper_bound) == (named, named)


@pytest.mark.exhaustive
def test_expected_control_promises_without_a_confidence(tmp_path: Path) -> None:
    made = calibrated(case_of("digits"), tmp_path, risk=0.01, risk_control="expected")
    promise = made.calibration.promise
    assert (promise.control, promise.confidence) == ("expected", None)
    assert (promise.disagreements + 1) / (promise.n_samples + 1) <= 0.01


@pytest.mark.exhaustive
def test_training_samples_are_promised_nothing(tmp_path: Path) -> None:
    X = (load_digits().data[:600] / 16).astype(np.float32)
    made = calibrated(case_of("digits"), tmp_path, X=X)
    promise = made.calibration.promise
    assert (promise.control, promise.upper_bound) == ("none", None)
    assert any("trained on" in note for note in made.calibration.notes)


@pytest.mark.exhaustive
def test_samples_beyond_the_limit_are_left_out_and_told(tmp_path: Path) -> None:
    X = case_of("digits").X.copy()
    X[:3] = 1e30
    made = calibrated(case_of("digits"), tmp_path, X=X, risk="auto")
    told = [note for note in made.calibration.notes if "beyond the input limit" in note]
    assert [note.split(" are ")[0] for note in told] == ["3 calibration samples"]


def copies(case: Case) -> dict[str, np.ndarray]:
    """Return samples with copies that are equal, and with two noisy copies each."""
    X = np.unique(case.X, axis=0)
    X = X[np.random.default_rng(4).permutation(len(X))]
    noise = 1e-6 * np.random.default_rng(9).normal(size=(2, *X.shape)).astype(np.float32)
    return {
        "alone": X,
        "equal": np.concatenate([X, X[::2]]),
        "nearly": np.concatenate([X, X + noise[0], X + noise[1]]),
    }


@pytest.mark.exhaustive
@pytest.mark.parametrize("kind", ["equal", "nearly"])
def test_copies_support_no_smaller_risk_than_what_they_copy(kind: str, tmp_path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
    case = Case(SVC(C=10, gamma=0.03).fit(X[:250], y[:250]), X[250:], X[250:])
    given = copies(case)
    made = calibrated(case, tmp_path, X=given[kind], risk="auto").calibration
    alone = calibrated(case, tmp_path, X=given["alone"], risk="auto").calibration
    assert made.promise.upper_bound >= alone.promise.upper_bound
    assert made.n_control <= (len(given["alone"]) + 1) // 2 + 4 * np.sqrt(len(given["alone"]))
    told = f"{len(given[kind]) - len(given['alone']):,} of the {len(given[kind]):,} calibration"
    assert any(note.startswith(told) for note in made.notes)


def test_few_distinct_samples_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="150 usable samples"):
        calibrated(case_of("digits"), tmp_path, X=np.tile(case_of("digits").X[:150], (4, 1)))


@pytest.mark.parametrize("thresholds", ["simple", "maxsmoothed"])
def test_paper_refuses_classes_that_are_no_pairs(thresholds: str, tmp_path: Path) -> None:
    case = case_of("digits of ten classes")
    rest = OneVsRestClassifier(SVC(gamma=0.02)).fit(case.X, case.samples.labels)
    with pytest.raises(UsageError, match="is for pairs of classes, the model is one-vs-rest"):
        calibrated(Case(rest, case.X, case.test), tmp_path, thresholds=thresholds)


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    "room",
    [
        pytest.param(Room(0, None, None), marks=pytest.mark.exhaustive, id="time"),
        pytest.param(Room(1e9, 100, None), id="flash"),
    ],
)
def test_without_room_every_query_is_summed(room: Room, tmp_path: Path) -> None:
    made = calibrated(case_of("digits"), tmp_path, room=room, risk="auto")
    assert not made.program.early_exits
    assert any("no early exit pays" in note for note in made.calibration.notes)


def test_room_is_a_tenth_of_the_operations_and_what_the_board_has_left() -> None:
    program = case_of("digits").program
    room = room_for_exits(program, Budgets(10**6, 10**5), 1000, WORST_SHARE)
    assert room.operations <= exact_operations(program) / 10
    assert room.flash_bytes is not None
    assert room.ram_bytes is not None
    assert room.flash_bytes < 10**6 - program.table_bytes
    assert room.ram_bytes < 10**5 - 1000


@pytest.mark.exhaustive
def test_few_samples_of_another_data_set_still_calibrate(tmp_path: Path) -> None:
    X, y = load_breast_cancer(return_X_y=True)
    X = ((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float32)
    case = Case(SVC(C=10, gamma=0.03).fit(X[:250], y[:250]), X[250:], X[250:])
    made = calibrated(case, tmp_path, risk="auto")
    assert made.calibration.promise.upper_bound is not None
    assert worst_operations(made.program) <= 1.1 * exact_operations(case.program)
