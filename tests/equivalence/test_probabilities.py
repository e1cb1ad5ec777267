"""Probabilities of real calibrated models: C, interpreter, scikit-learn and real numbers."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from mpmath import mp, mpf

from kit import calibrated, catalogue
from kit.covering import every_nth
from kit.emitted import Emitted
from kit.real_model import RealModel
from kit.roundings import flushing_subnormals, need_fma, run
from kit.tools import FAST, need
from kmcompile.build import build
from kmcompile.lower.formats import lower_in_format
from kmcompile.program.interpreter import Status, interpret
from kmcompile.run import HostRunner
from kmcompile.target import load_target

N_REAL = 40


def told_by(records: np.ndarray, n_classes: int) -> tuple[np.ndarray, np.ndarray]:
    """Return probabilities and bounds in the records of the C."""
    told = np.ascontiguousarray(records[:, -n_classes - 1 :]).view(np.float32)
    return told[:, :-1], told[:, -1]


@cache
def real_model(name: str) -> RealModel:
    """Return the trained machine in real numbers."""
    model = calibrated.fitted(name)
    own = model if name == "platt" else model.calibrated_classifiers_[0].estimator
    return RealModel(own)


def real_probabilities(case: calibrated.Calibrated, x: np.ndarray) -> list:
    """Return the probabilities of one input in real numbers."""
    if case.model == "platt":
        model = calibrated.fitted("platt")
        (f,) = real_model("platt").decisions(x)
        a, b = model[-1]._probA[0], model[-1]._probB[0]
        second = 1 / (1 + mp.exp(mpf(float(a)) * f - mpf(float(b))))
        return [1 - second, second]
    (inner,) = calibrated.fitted(case.model).calibrated_classifiers_
    decisions = real_model(case.model).decisions(x)
    pairs = zip(inner.calibrators, decisions, strict=True)
    each = [1 / (1 + mp.exp(mpf(float(c.a_)) * d + mpf(float(c.b_)))) for c, d in pairs]
    return [1 - each[0], each[0]] if len(each) == 1 else [p / mp.fsum(each) for p in each]


def check(case: calibrated.Calibrated, X: np.ndarray, records: np.ndarray) -> None:
    """Hold the probabilities in records against those of real numbers."""
    assert (records[:, 0] == Status.OK).all()
    n_classes = len(calibrated.read(case.model).classes)
    with mp.workdps(50):
        for x, own, bound in zip(X, *told_by(records, n_classes), strict=True):
            real = real_probabilities(case, x)
            error = max(abs(mpf(float(p)) - q) for p, q in zip(own, real, strict=True))
            assert error <= mpf(float(bound)), x.tolist()


def inputs(case: calibrated.Calibrated) -> np.ndarray:
    """Return samples, and others between and beyond them."""
    X, _ = calibrated.samples(case.model)
    rng = np.random.default_rng(4)
    chosen, others = rng.choice(X, N_REAL), rng.choice(X, N_REAL)
    weights = rng.uniform(-0.5, 1.5, (N_REAL, 1))
    mixed = chosen + weights * (others - chosen)
    return np.concatenate([chosen, mixed]).astype(np.float32)


@pytest.mark.parametrize("case", every_nth(calibrated.EVERY, 3))
def test_the_c_matches_the_interpreter_bit_for_bit(case, tmp_path):
    need("gcc")
    emitted = catalogue.emitted(case, "host")
    emitted.write(tmp_path)
    with build(emitted.recipe, tmp_path, emitted.target, optimisation=FAST) as artifact:
        result = HostRunner().run(artifact, emitted.inputs)
    np.testing.assert_array_equal(result.records, emitted.records)
    assert set(emitted.records[:, -len(emitted.program.classes) - 2]) >= {0, 3}


@pytest.mark.few
@pytest.mark.parametrize("platt", [(1.0, 0.5), (1 + 1e-8, 0.0), (-1.0, 0.0), (0.0, 0.4)], ids=str)
def test_the_c_of_every_sigmoid_matches_the_interpreter(platt, tmp_path):
    """A slope of 1 in float32 is a sigmoid still."""
    need("gcc")
    target = load_target("host")
    machine = replace(calibrated.read("rbf"), log_odds=False, platt=platt)
    emitted = Emitted(machine, lower_in_format(machine, target, "iris", "int16").program, target)
    emitted.write(tmp_path)
    with build(emitted.recipe, tmp_path, target, optimisation=FAST) as artifact:
        result = HostRunner().run(artifact, emitted.inputs)
    np.testing.assert_array_equal(result.records, emitted.records)
    header = " ".join(emitted.files["iris.h"].decode().replace("\n *", " ").split())
    assert "by the sigmoid that was trained beside the decision" in header


@pytest.mark.parametrize("case", every_nth(calibrated.EVERY, 3))
def test_they_are_scikit_learns_within_the_bound(case):
    emitted = catalogue.emitted(case, "host")
    X, _ = calibrated.samples(case.model)
    answers = interpret(emitted.program, X.astype(np.float32))
    accepted = answers.results["status"] == Status.OK
    theirs = calibrated.fitted(case.model).predict_proba(X)[accepted]
    if case.model == "platt":  # scikit-learn stops an iteration before it is there
        theirs = np.array([real_probabilities(case, x) for x in X[accepted]]).astype(float)
    error = np.abs(answers.probabilities[accepted] - theirs).max(axis=1)
    bounds = answers.probability_bounds[accepted]
    print(f"{case}: largest error {error.max():.3g}, largest bound {bounds.max():.3g}")
    assert (error <= bounds).all()
    assert accepted.mean() > 0.99


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", every_nth(calibrated.EVERY, 3))
def test_they_are_those_of_real_numbers_within_the_bound(case, tmp_path):
    X = inputs(case)
    emitted = catalogue.emitted(case, "host")
    answers = interpret(emitted.program, X)
    accepted = answers.results["status"] == Status.OK
    told = np.column_stack([answers.probabilities, answers.probability_bounds])
    records = np.column_stack([answers.results["status"].view(np.uint32), told.view(np.uint32)])
    check(case, X[accepted], records[accepted])


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [calibrated.CORE[0], calibrated.CORE[2]], ids=str)
def test_bounds_hold_where_the_compiler_contracts(case, tmp_path):
    """reliability 32: bounds hold with and without FMA."""
    need_fma()
    need("gcc")
    X = inputs(case)
    result = run(catalogue.emitted(case, "host"), X, tmp_path, "gcc", fused=True)
    check(case, X, result.records)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", [calibrated.CORE[0], calibrated.CORE[2]], ids=str)
def test_bounds_hold_where_subnormals_are_flushed(case, tmp_path):
    """reliability 34: subnormals flushed: bounds tolerate it."""
    need("gcc")
    need_fma()  # a processor with an MXCSR register
    X = inputs(case)
    X[::4] *= np.float32(1e-39)
    emitted = catalogue.emitted(case, "host")
    with flushing_subnormals(tmp_path, emitted):
        result = run(emitted, X, tmp_path, "gcc", fused=False)
    check(case, X, result.records)
