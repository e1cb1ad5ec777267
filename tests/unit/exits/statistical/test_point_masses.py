"""Promises hold where one input carries much of the mass: an idle or a saturated sensor.

The samples are independent draws of one law, so that copies are no mistake: what is promised of
queries like the samples is about the frequent input as often as it comes.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest
from calibration_cases import Case
from scipy.stats import binom
from sklearn.svm import SVC

from kit.plans import plan_for
from kmcompile import readers
from kmcompile.choice.asked_vectors import as_asked
from kmcompile.choice.whole_program import choose_whole
from kmcompile.errors import BudgetError, FewSamplesError, InputError
from kmcompile.exits.candidates.room import Room
from kmcompile.exits.certified.fits import certified_fits
from kmcompile.exits.statistical.binomial import clopper_pearson_lower
from kmcompile.exits.statistical.calibrate import calibrate
from kmcompile.exits.statistical.fits import statistical_fits
from kmcompile.model.reference import evaluate
from kmcompile.monitor.held_out import hold_out
from kmcompile.monitor.monitored import with_monitor
from kmcompile.program.interpreter import Status, classify
from kmcompile.program.program import Program
from kmcompile.request.asked_stages import AskedStages
from kmcompile.request.plan import Plan

MASSES = (0.01, 0.05, 0.1, 0.5)
PLACES = ("away", "boundary")
RISK, LARGE_RISK, SHARE = 0.02, 0.06, 0.05
N_SAMPLES, N_FRESH, N_FEATURES = 1500, 20_000, 4
SURE = 1e-6
"""Probability with which a right implementation may fail one of the tests."""


@dataclass(frozen=True)
class Law:
    """Two clusters, and one input of its own that carries a part of the mass."""

    mass: float
    heavy: np.ndarray

    def light(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Return draws of which none is the frequent input."""
        return clusters(rng, n)

    def draw(self, rng: np.random.Generator, n: int) -> np.ndarray:
        """Return independent draws."""
        X = clusters(rng, n)
        X[rng.random(n) < self.mass] = self.heavy
        return X


def clusters(rng: np.random.Generator, n: int) -> np.ndarray:
    X = rng.normal(size=(n, N_FEATURES))
    X[:, 0] += np.where(rng.random(n) < 0.5, 1.5, -1.5)
    return X.astype(np.float32)


@cache
def trained(place: str) -> tuple[Case, np.ndarray]:
    """Return a machine, and the frequent input: in the midst of the other class, or between."""
    rng = np.random.default_rng(1)
    X = clusters(rng, 500)
    y = X[:, 0] + 0.5 * np.sin(2 * X[:, 1]) > 0
    heavy = np.r_[1.8, np.zeros(N_FEATURES - 1)].astype(np.float32)
    if place == "away":
        idle = heavy + 0.02 * rng.normal(size=(60, N_FEATURES)).astype(np.float32)
        X, y = np.concatenate([X, idle]), np.append(y, np.zeros(60, dtype=bool))
    model = SVC(C=100, gamma=0.5).fit(X, y)
    if place == "boundary":
        low, high = X[~y][0].astype(float), X[y][0].astype(float)
        for _ in range(50):
            middle = (low + high) / 2
            is_low = model.decision_function(middle[None])[0] < 0.02
            low, high = (middle, high) if is_low else (low, middle)
        heavy = high.astype(np.float32)
    case = Case(model, clusters(rng, 10), clusters(np.random.default_rng(2), N_FRESH))
    return case, heavy


def asked(X: np.ndarray, folder: Path, place: str, **options) -> Plan:
    """Return the plan of a compilation with samples."""
    path = folder / "samples.npy"
    np.save(path, X)
    return plan_for(trained(place)[0].machine, data=path, **options)


def rate(program: Program, law: Law, case: Case) -> float:
    """Return how often the label is not the model's, for queries of the law."""
    asked = np.concatenate([case.test, law.heavy[None]])
    labels = evaluate(case.machine, asked).labels
    wrong = classify(program, asked)[0]["label"] != labels
    return (1 - law.mass) * float(wrong[:-1].mean()) + law.mass * float(wrong[-1])


def calibrated(X: np.ndarray, folder: Path, place: str, **options) -> Program:
    """Return a program with a linear filter, the cheapest of the statistical exits."""
    case = trained(place)[0]
    plan = asked(X, folder, place, mode="statistical", n_jobs=1, generated=0, **options)
    if plan.options.monitor is not None:
        _, plan = hold_out(plan, lambda text: None)
    kinds = {fit.kind.template for fit in (*statistical_fits(), *certified_fits())}
    stages = AskedStages(excluded=tuple(sorted(kinds - {"linear_filter"})))
    room = Room(case.room.operations, None, None, stages=stages)
    return calibrate(case.machine, case.program, plan, room, lambda text: None).program


def risk_of(X: np.ndarray, law: Law, folder: Path, place: str, **options) -> float:
    """Return the rate of a calibrated program; a monitor takes its samples first.

    0 where these leave too few for the risk: then nothing is promised.
    """
    try:
        program = calibrated(X, folder, place, risk=RISK, **options)
    except FewSamplesError:
        return 0.0
    return rate(program, law, trained(place)[0])


def reduced_risk_of(X: np.ndarray, law: Law, folder: Path, place: str) -> float:
    """Return the rate of a program of fewer vectors with early exits."""
    case = trained(place)[0]
    plan = asked(
        X, folder, place, reduce="auto", risk=LARGE_RISK, mode="statistical", n_jobs=1, generated=0
    )
    try:
        machine = readers.load_model(case.estimator)
        program = choose_whole(machine, plan, None, lambda text: None)[1].program
    except (BudgetError, InputError):
        return 0.0
    return rate(program, law, case)


def reduced(X: np.ndarray, law: Law, folder: Path, place: str) -> float:
    """Return the rate of a reduced machine; 0 where no size keeps the risk."""
    case = trained(place)[0]
    plan = asked(X, folder, place, reduce="auto", risk=RISK, mode="exact")
    try:
        smaller = as_asked(readers.load_model(case.estimator), plan, lambda text: None).machine
    except BudgetError:
        return 0.0
    fresh = np.concatenate([case.test, law.heavy[None]])
    wrong = evaluate(smaller, fresh).labels != evaluate(case.machine, fresh).labels
    return (1 - law.mass) * float(wrong[:-1].mean()) + law.mass * float(wrong[-1])


@dataclass(frozen=True)
class OnlyProgram:
    """The field of a chosen program that a monitor needs."""

    program: Program


def found_strange(X: np.ndarray, law: Law, folder: Path, place: str) -> float:
    """Return the share of queries of the law that a monitor finds strange."""
    case = trained(place)[0]
    held, plan = hold_out(asked(X, folder, place, monitor=SHARE), lambda text: None)
    chosen, _ = with_monitor(OnlyProgram(case.program), held, plan, lambda text: None)
    results, _ = classify(chosen.program, np.concatenate([case.test, law.heavy[None]]))
    assert (results["status"] == Status.OK).all()
    strange = ~results["in_range"]
    return (1 - law.mass) * float(strange[:-1].mean()) + law.mass * float(strange[-1])


def rates(of, mass: float, place: str, times: int, folder: Path, **options) -> np.ndarray:
    """Return the true rates of what is made with so many sets of samples."""
    law = Law(mass, trained(place)[1])
    draws = (law.draw(np.random.default_rng([7, seed]), N_SAMPLES) for seed in range(times))
    return np.array([of(X, law, folder, place, **options) for X in draws])


CASES = [
    pytest.param(mass, place, 100, marks=pytest.mark.exhaustive)
    for mass in MASSES
    for place in PLACES
]
FEW = pytest.param(0.1, "away", 4)
GUARANTEED = {
    "risk": (risk_of, RISK),
    "risk behind a monitor": (partial(risk_of, monitor=SHARE), RISK),
    "share that a monitor finds": (found_strange, SHARE),
}
"""What is promised at 99 % confidence: how the true rate is found, and the promise."""
FEW_TIMES = 8
"""Sets of samples of what takes seconds for each."""


def broken(found: np.ndarray, promised: float) -> int:
    """Return how many true rates are above the promise, beyond what the fresh samples' noise is."""
    return sum(
        clopper_pearson_lower(round(r * N_FRESH), N_FRESH, 1 - SURE) > promised for r in found
    )


@pytest.mark.parametrize("kind", GUARANTEED)
@pytest.mark.parametrize(("mass", "place", "times"), [FEW, *CASES])
def test_what_is_guaranteed_is_kept(
    mass: float, place: str, times: int, kind: str, tmp_path: Path
) -> None:
    of, promised = GUARANTEED[kind]
    found = rates(of, mass, place, times, tmp_path)
    assert broken(found, promised) <= binom.isf(SURE, times, 0.01)


@pytest.mark.exhaustive
@pytest.mark.parametrize("place", PLACES)
def test_a_risk_is_kept_by_fewer_vectors_with_exits(place: str, tmp_path: Path) -> None:
    found = rates(reduced_risk_of, 0.1, place, FEW_TIMES, tmp_path)
    assert broken(found, LARGE_RISK) <= binom.isf(SURE, FEW_TIMES, 0.01)
    assert (found > 0).any()


@pytest.mark.parametrize(("mass", "place", "times"), CASES)
def test_an_expected_risk_is_kept_in_the_mean(
    mass: float, place: str, times: int, tmp_path: Path
) -> None:
    found = rates(risk_of, mass, place, times, tmp_path, risk_control="expected")
    # Hoeffding, as the mean of values within [0, largest].
    slack = found.max() * math.sqrt(math.log(1 / SURE) / (2 * times))
    assert found.mean() <= RISK + slack


@pytest.mark.parametrize(("mass", "place", "times"), CASES)
def test_a_reduced_machine_keeps_the_risk(
    mass: float, place: str, times: int, tmp_path: Path
) -> None:
    found = rates(reduced, mass, place, times, tmp_path)
    assert broken(found, RISK) <= binom.isf(SURE, times, 0.01)
    assert (found > 0).any()


@pytest.mark.exhaustive
@pytest.mark.parametrize("thresholds", ["simple", "maxsmoothed"])
def test_the_papers_thresholds_report_frequent_inputs_as_often_as_they_come(
    thresholds: str, tmp_path: Path
) -> None:
    case, heavy = trained("away")
    X = Law(0.5, heavy).draw(np.random.default_rng(3), N_SAMPLES)
    plan = asked(X, tmp_path, "away", thresholds=thresholds)
    made = calibrate(case.machine, case.program, plan, case.room, lambda text: None)
    promise = made.calibration.promise
    wrong = classify(made.program, X)[0]["label"] != evaluate(case.machine, X).labels
    firsts = np.unique(X, axis=0, return_index=True)[1]
    rates_of_both = (wrong.mean(), wrong[firsts].mean())
    assert promise.control == "none"
    assert promise.disagreements / promise.n_samples == max(rates_of_both)
