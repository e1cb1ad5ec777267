"""Calibration of routed machines: decisions are the leaves', and the promise is about them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit.lowered import program_of
from kit.plans import plan_for
from kit.routed import Routed, samples
from kmcompile.errors import InputError
from kmcompile.exits.early_exits import add_early_exits, why_none
from kmcompile.exits.statistical.samples import decision_values
from kmcompile.lower.formats import lower_in_format
from kmcompile.model.reference import evaluate
from kmcompile.passes import run_passes
from kmcompile.program.interpreter import classify
from kmcompile.request.asked_stages import AskedStages
from kmcompile.target import load_target

CASES = [Routed("iris", 5), Routed("wine", 4), Routed("wine", 6, "chain", extra="widths linear")]


def inputs(case: Routed, n: int, seed: int) -> np.ndarray:
    X, _ = samples(case.data)
    rng = np.random.default_rng(seed)
    return np.float32(X[rng.integers(len(X), size=n)] + rng.normal(scale=0.3, size=(n, X.shape[1])))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_decisions_are_those_of_the_leaves(case):
    machine, X = run_passes(case.machine()), inputs(case, 200, 0)
    np.testing.assert_array_equal(decision_values(machine, X), evaluate(machine, X).decisions)


def test_a_training_sample_is_judged_without_its_own_vector_in_its_leaf():
    machine = run_passes(CASES[0].machine())
    assert machine.routing is not None
    vectors = machine.support_vectors
    X = np.float32(vectors)
    leaf = machine.routing.walk(vectors).leaf
    own = np.searchsorted(machine.routing.leaf_ends, np.arange(len(X)), side="right")
    there = decision_values(machine, X, np.arange(len(X)))
    expected = evaluate(machine, X).decisions.T - np.where(leaf == own, machine.dual_coef, 0.0)
    np.testing.assert_allclose(there.T, expected, rtol=1e-9, atol=1e-9)


def test_statistical_exits_before_a_routed_sum_keep_their_promise():
    case = Routed("iris", 5)
    machine = run_passes(case.machine())
    stages = AskedStages(required=("linear_filter",))
    plan = replace(plan_for(machine), mode="statistical", samples=inputs(case, 2000, 1))
    plan = replace(plan, stages=stages, promise=replace(plan.promise, risk=0.05))
    made = add_early_exits(machine, program_of(machine), plan, lambda text: None)
    assert made.promise is not None
    assert made.promise.upper_bound <= 0.05
    fresh = inputs(case, 4000, 2)
    results, _ = classify(made.program, fresh)
    wrong = results["label"] != evaluate(machine, fresh).labels
    early = results["stage"] < len(made.program.early_exits)
    assert wrong.mean() <= 0.05
    assert early.mean() > 0.1
    assert not (wrong & results["certified"]).any()


def test_leaves_of_integers_say_that_they_have_no_early_exits():
    machine = run_passes(Routed("iris", 5).machine())
    lowered = lower_in_format(machine, load_target("cortex-m0"), "iris", "int16")
    plan = plan_for(machine, mode="certified")
    assert "leaves have early exits in float32 only" in why_none(machine, plan, lowered.program)
    plan = replace(plan, stages=AskedStages(required=("leaf_expansion",)))
    with pytest.raises(InputError, match="in float32 only"):
        add_early_exits(lowered.machine, lowered.program, plan, lambda text: None)
