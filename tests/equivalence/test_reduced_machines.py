"""Reduced machines: C and interpreter agree bit for bit, bounds are the trained machine's."""

from __future__ import annotations

import copy
from functools import cache
from typing import Any

import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_digits, load_wine
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, OneClassSVM
from test_c_matches_interpreter import Compiler, check_on_host

from kit.emitted import Emitted
from kit.function_kernels import load_machine
from kit.tools import FAST, need_tools
from kmcompile.build import build
from kmcompile.choice.asked_vectors import as_asked
from kmcompile.choice.program import choose_program
from kmcompile.lower.formats import lower_in_format
from kmcompile.lower.reduced import with_distance
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.likely_inputs import generate
from kmcompile.model.reference import Reference, evaluate
from kmcompile.passes.reduction.construction import construct
from kmcompile.passes.reduction.distance import standing_for
from kmcompile.passes.reduction.pursuit import pursue
from kmcompile.program.interpreter import Status
from kmcompile.request.options import Options
from kmcompile.request.plan import Request
from kmcompile.run import runner_for
from kmcompile.target import load_target
from kmcompile.verify.probabilities import probabilities_of

X, Y = load_wine(return_X_y=True)
X = X[:, :5].astype(np.float32).astype(np.float64)
SCALED = np.float32((X - X.mean(axis=0)) / X.std(axis=0)).astype(np.float64)

MODELS: dict[str, tuple[Any, np.ndarray]] = {
    "binary": (SVC(gamma=0.2, C=10.0), Y == 1),
    "one_vs_one": (SVC(gamma=0.2, C=10.0), Y),
    "ties_broken": (SVC(gamma=0.2, C=10.0, break_ties=True), Y),
    "one_vs_rest": (OneVsRestClassifier(SVC(gamma=0.2, C=10.0)), Y),
    "one_class": (OneClassSVM(nu=0.4, gamma=0.2), Y),
    "regression": (SVR(gamma=0.2, C=10.0), X[:, 0] * X[:, 1] / 10),
    "calibrated": (CalibratedClassifierCV(SVC(gamma=0.2), ensemble=False, cv=3), Y == 1),
}
_POLY = {"kernel": "poly", "gamma": 0.2, "coef0": 1.0}
POLYNOMIALS: dict[str, tuple[Any, np.ndarray]] = {
    "cubic": (SVC(degree=3, **_POLY), Y),
    "quartic": (OneVsRestClassifier(SVC(degree=4, **_POLY)), Y),
    "line": (SVR(degree=1, **_POLY), X[:, 0] * X[:, 1] / 10),
    "parabola": (SVR(degree=2, **_POLY), X[:, 0] * X[:, 1] / 10),
}
FORMATS = ("float32", "int8", "int16")
CASES = [(name, form, False) for name in MODELS for form in FORMATS]
MODELS |= POLYNOMIALS
CASES += [(name, "float32", True) for name in MODELS]
CASES += [(name, "float32", False) for name in POLYNOMIALS]


@cache
def trained(name: str, scaled: bool) -> KernelMachine:
    """Return the trained machine, behind a StandardScaler or of scaled features."""
    model, labels = copy.deepcopy(MODELS[name])
    if scaled:
        return load_machine(make_pipeline(StandardScaler(), model).fit(X, labels))
    return load_machine(model.fit(SCALED, labels))


@cache
def emitted(name: str, number_format: str, scaled: bool, n: int, target: str = "host") -> Emitted:
    """Return the C of a machine of n vectors, or of all but -n, in the place of the trained one.

    From half of the vectors up they are support vectors; fewer are moved.
    """
    machine = trained(name, scaled)
    chosen = pursue(machine, machine.n_support_vectors, "orthogonal_least_squares")
    n = n if n > 0 else len(chosen) + n
    fewer = chosen.reduced(n)
    if 2 * n < machine.n_support_vectors:
        fewer = construct(machine, fewer, 10)
    lowered = lower_in_format(
        standing_for(machine, fewer), load_target(target), "iris", number_format
    )
    program = with_distance(lowered.program, lowered.machine)
    data = np.float32(X if scaled else SCALED)
    far = np.float32([[1e30] * 5, [np.nan] * 5, [0.0] * 5])
    queries = np.concatenate([data[::2], generate(machine, 60), far])
    return Emitted(machine, program, load_target(target), queries)


def check_against_trained(made: Emitted) -> np.ndarray:
    """Hold the answers against the trained machine; return which labels are certified."""
    accepted = made.answers.results["status"] == Status.OK
    assert accepted.sum() > 100
    reference: Reference = evaluate(made.machine, made.queries[accepted])
    results, bounds = made.answers.results[accepted], made.answers.bounds[accepted]
    apart = np.abs(made.answers.decisions[accepted] - reference.decisions)
    assert (apart <= bounds.astype(np.float64) + reference.error).all()
    if made.machine.log_odds:
        told = probabilities_of(made.machine, reference.decisions)
        off = np.abs(made.answers.probabilities[accepted] - told).max(axis=1)
        rounded = reference.error.max(axis=1) / 2 + 16 * 2.0**-53
        assert (off <= made.answers.probability_bounds[accepted] + rounded).all()
    if made.machine.task is Task.REGRESSION:
        return np.zeros(len(results), dtype=bool)
    certified: np.ndarray = results["certified"]
    assert (results["label"] == reference.labels)[certified].all()
    return certified


@pytest.mark.few
@pytest.mark.parametrize("n", [1, 6, -1])
@pytest.mark.parametrize(("name", "number_format", "scaled"), CASES)
def test_c_is_the_interpreter_s_and_bounds_are_the_trained_machine_s(
    name, number_format, scaled, n, tmp_path
):
    made = emitted(name, number_format, scaled, n)
    assert made.program.model_sha256 == made.machine.sha256
    check_against_trained(made)
    check_on_host(made, Compiler("gcc", FAST), tmp_path)


@pytest.mark.parametrize("name", ["binary", "one_vs_one", "one_class"])
@pytest.mark.parametrize("number_format", ["float32", "int16"])
def test_with_nearly_all_vectors_labels_are_certified(name, number_format):
    certified = check_against_trained(emitted(name, number_format, False, -1))
    assert 0.2 < certified.mean() < 1.0


@pytest.mark.target
@pytest.mark.exhaustive
@pytest.mark.parametrize("target", ["cortex-m7", "leon3"])
@pytest.mark.parametrize(
    ("name", "number_format"),
    [("one_vs_one", "float32"), ("one_vs_one", "int8"), ("regression", "int16")],
)
def test_targets_give_the_interpreter_s_answers(name, number_format, target, tmp_path):
    need_tools(load_target(target))
    made = emitted(name, number_format, False, 6, target)
    with build(made.recipe, made.write(tmp_path), load_target(target)) as artifact:
        result = runner_for(load_target(target)).run(artifact, made.inputs)
    np.testing.assert_array_equal(result.records, made.records)
    assert result.self_test == Status.OK


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("several", "number_format"), [(False, "float32"), (False, "int8"), (True, "float32")]
)
def test_statistical_exits_before_a_reduced_sum(several, number_format, tmp_path):
    """No early answer is certified, and the promise about the trained label holds."""
    digits, labels = load_digits(return_X_y=True)
    digits = digits.astype(np.float32)
    model = SVC(C=10, gamma=0.001).fit(digits[:400], labels[:400] if several else labels[:400] > 4)
    machine, risk = load_machine(model), 0.3 if several else 0.15
    np.savez(tmp_path / "samples.npz", X=digits[400:1500])
    options = Options(
        data=tmp_path / "samples.npz",
        mode="statistical",
        risk=risk,
        format=number_format,
        reduce="150" if several else "60",
        require="linear_filter",
    )
    reduced = as_asked(machine, Request.of(model, options).plan(machine), lambda _: None)
    program = choose_program(reduced.machine, reduced.plan, lambda _: None).program
    assert [stage.template for stage in program.early_exits].count("linear_filter") == 1
    made = Emitted(machine, program, load_target("host"), digits[1500:])
    results = made.answers.results
    early = results["stage"] < len(program.early_exits)
    assert early.any()
    assert not results["certified"][early].any()
    trained_labels = evaluate(machine, digits[1500:]).labels
    assert (results["label"] != trained_labels).mean() <= risk
    certified = results["certified"]
    np.testing.assert_array_equal(results["label"][certified], trained_labels[certified])
    check_on_host(made, Compiler("gcc", FAST), tmp_path / "c")
