"""The worst case that is computed holds for every query, and one query reaches it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

from kit.digits_cascade import DigitsCascade, digits_cascade
from kit.lowered import lowered
from kit.pairs import Pairs
from kmcompile.program.cost import exact_operations, stage_worst_operations, worst_operations
from kmcompile.program.interpreter import classify, interpret
from kmcompile.program.program import Program
from kmcompile.program.stages import LinearFilter, NearestVectors, Nonzeros, RangeGate, ReducedSet

CASES = [("rbf", 2), ("rbf", 10), ("poly", 2), ("poly", 10)]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: f"{case[0]}-{case[1]}_classes")
def digits(request) -> DigitsCascade:
    return digits_cascade(*request.param)


def never_deciding(program: Program) -> Program:
    """Return the program with half-widths that decide nothing and gates that let all pass."""
    exits = []
    for stage in program.exits:
        if isinstance(stage, RangeGate):
            stage = replace(stage, largest=np.float32(np.inf))
        if isinstance(stage, ReducedSet):
            stage = replace(stage, least=np.float32(-np.inf), largest=np.float32(np.inf))
        if isinstance(stage, NearestVectors):
            stage = replace(stage, least=[-np.inf, -np.inf], largest=[np.inf, np.inf])
        if isinstance(stage, LinearFilter | ReducedSet | NearestVectors):
            stage = replace(stage, half_width=np.full_like(stage.half_width, np.inf))
        exits.append(stage)
    return replace(program, exits=tuple(exits))


def test_no_query_takes_more_than_the_worst_case(digits):
    dense = np.random.default_rng(0).uniform(0.01, 1, digits.test.shape).astype(np.float32)
    X = np.concatenate([digits.test, dense, 3 * dense])
    answers = interpret(digits.program, X)
    assert len(np.unique(answers.results["stage"])) > 2
    assert answers.operations.max() <= worst_operations(digits.program)


def test_a_query_without_zeros_that_nothing_decides_takes_the_worst_case(digits):
    program = never_deciding(digits.program)
    X = np.full((3, program.n_features), 0.5, dtype=np.float32)
    answers = interpret(program, X)
    assert (answers.operations == worst_operations(program)).all()
    for number, stage in enumerate((program.prepare, *program.exits)):
        assert (answers.stage_operations[:, number] == stage_worst_operations(program, stage)).all()


def test_the_exact_sum_alone_is_the_program_without_early_exits(digits):
    assert exact_operations(digits.program) == exact_operations(digits.exact)
    everywhere = digits.test + np.float32(0.01)
    assert (interpret(digits.exact, everywhere).operations == exact_operations(digits.exact)).all()
    assert (interpret(digits.exact, digits.test).operations <= exact_operations(digits.exact)).all()


def test_the_list_of_features_counts_in_a_sum_of_pairs_that_skips_zeros():
    program = Pairs(n_classes=7, n_features=70, sparse=True).emit("host").program
    assert program.ends.exact.skip_zeros
    alone = sum(one.operations() for one in (program.prepare, program.sum, program.label))
    (listed,) = (stage.operations() for stage in program.exits if isinstance(stage, Nonzeros))
    assert exact_operations(program) == alone + listed


def test_the_operations_of_the_stages_add_up(digits):
    answers = interpret(digits.program, digits.test)
    assert (answers.operations == classify(digits.program, digits.test)[1]).all()
    came = answers.stage_operations >= 0
    assert came[:, 0].all()
    assert (came[:, -1] == (answers.results["stage"] == len(digits.program.early_exits))).all()


@pytest.mark.parametrize("estimator", [SVC(), LinearSVC()], ids=["exact_sum", "linear_sum"])
def test_without_early_exits_every_query_takes_the_worst_case(estimator):
    X = np.random.default_rng(1).normal(size=(60, 3))
    low = lowered(estimator.fit(X, X[:, 0] > 0))
    assert worst_operations(low.program) == exact_operations(low.program)
    assert (low.answers(low.queries).operations == worst_operations(low.program)).all()
