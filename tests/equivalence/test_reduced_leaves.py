"""Reduced leaves: C and interpreter agree bit for bit, bounds are the trained machine's."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from test_c_matches_interpreter import Compiler, check_on_host

from kit.emitted import Emitted
from kit.reduced_leaves import CORE, ReducedLeaves
from kit.routed import samples
from kit.tools import FAST, need_tools
from kmcompile.build import build
from kmcompile.model.kernel_machine import Task
from kmcompile.model.likely_inputs import generate
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import Status
from kmcompile.run import runner_for
from kmcompile.target import load_target


@cache
def emitted(case: ReducedLeaves, target: str = "host") -> Emitted:
    """Return the C with queries that resemble the data, at edges and between leaves."""
    made = case.emit(target)
    X = np.float32(samples(case.trained.data)[0])
    # Halfway between samples lie many edges of leaves.
    between = (X + X[::-1]) / np.float32(2)
    far = np.float32([[1e30], [np.nan], [0.0]]).repeat(X.shape[1], axis=1)
    queries = np.concatenate([X, between, generate(made.machine, 60), far])
    return Emitted(made.machine, made.program, made.target, queries)


@pytest.mark.exhaustive
@pytest.mark.parametrize("case", CORE, ids=str)
def test_c_is_the_interpreter_s_and_bounds_are_the_trained_machine_s(case, tmp_path):
    made = emitted(case)
    assert made.program.model_sha256 == made.machine.sha256
    accepted = made.answers.results["status"] == Status.OK
    assert accepted.sum() > 100
    reference = evaluate(made.machine, made.queries[accepted])
    results, bounds = made.answers.results[accepted], made.answers.bounds[accepted]
    apart = np.abs(made.answers.decisions[accepted] - reference.decisions)
    assert (apart <= bounds.astype(np.float64) + reference.error).all()
    if made.machine.task is not Task.REGRESSION:
        certified = results["certified"]
        np.testing.assert_array_equal(results["label"][certified], reference.labels[certified])
    check_on_host(made, Compiler("gcc", FAST), tmp_path)


def test_with_nearly_all_vectors_labels_are_certified():
    answers = emitted(CORE[-1]).answers.results
    assert 0.2 < answers["certified"].mean() < 1.0


@pytest.mark.target
@pytest.mark.exhaustive
@pytest.mark.parametrize("target", ["cortex-m4", "leon3"])
@pytest.mark.parametrize("case", [CORE[0], CORE[2]], ids=str)
def test_targets_give_the_interpreter_s_answers(case, target, tmp_path):
    need_tools(load_target(target))
    made = emitted(case, target)
    with build(made.recipe, made.write(tmp_path), load_target(target)) as artifact:
        result = runner_for(load_target(target)).run(artifact, made.inputs)
    np.testing.assert_array_equal(result.records, made.records)
    assert result.self_test == Status.OK
