"""Programs of reduced machines: bounds and certified labels are about the trained machine."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit.reduced_digits import POLYNOMIALS, TASKS, estimator, held_out
from kmcompile import readers
from kmcompile.errors import InputError
from kmcompile.kernels import Sigmoid
from kmcompile.lower.formats import lower_in_format
from kmcompile.lower.reduced import constant_distance, with_distance
from kmcompile.lower.sums import integer_groups, mixed_groups, sign_groups, vector_groups
from kmcompile.model.reference import evaluate
from kmcompile.passes.reduction.distance import standing_for
from kmcompile.passes.reduction.pursuit import pursue
from kmcompile.program.interpreter import interpret
from kmcompile.target import load_target


def reduced(task: str, n: int):
    machine = readers.load_model(estimator(task))
    return machine, standing_for(machine, pursue(machine, n).reduced(n))


@pytest.mark.parametrize("number_format", ["float32", "int8", "int16"])
@pytest.mark.parametrize("task", TASKS)
def test_bounds_hold_the_trained_decisions(task, number_format):
    machine, fewer = reduced(task, 60)
    lowered = lower_in_format(fewer, load_target("host"), "digits", number_format)
    program = with_distance(lowered.program, lowered.machine)
    X = held_out()[:200]
    answers, reference = interpret(program, X), evaluate(machine, X)
    error = np.abs(answers.decisions - reference.decisions)
    assert (error <= answers.bounds + reference.error).all()
    assert (error > interpret(lowered.program, X).bounds).any()  # the distance is needed
    sure = answers.results["certified"]
    assert (answers.results["label"][sure] == reference.labels[sure]).all()
    assert program.model_sha256 == machine.sha256


@pytest.mark.parametrize("number_format", ["float32", "int8"])
@pytest.mark.parametrize("task", POLYNOMIALS)
def test_bounds_of_polynomials_grow_with_the_query(task, number_format):
    machine, fewer = reduced(task, 20)
    lowered = lower_in_format(fewer, load_target("host"), "digits", number_format)
    program = with_distance(lowered.program, lowered.machine)
    X = np.concatenate([scale * held_out()[:100] for scale in (0, 1, 4, 15)])
    answers, reference = interpret(program, X), evaluate(machine, X)
    accepted = answers.results["status"] == 0
    assert accepted[:200].all()
    bounds = answers.bounds[accepted]
    error = np.abs(answers.decisions - reference.decisions)[accepted]
    assert (error <= bounds + reference.error[accepted]).all()
    # K(x, x) = (gamma |x|^2 + coef0)^degree
    root = np.sqrt(machine.kernel.self_values(X[accepted].astype(np.float64)))
    apart = root[:, None] * fewer.reduced_from.distance
    assert (bounds >= apart).all()
    assert (bounds[:100] <= 3 * apart[:100] + interpret(lowered.program, X).bounds[:100]).all()


def test_queries_whose_bound_would_overflow_are_refused():
    _, fewer = reduced("quartic", 20)
    lowered = lower_in_format(fewer, load_target("host"), "digits", "float32")
    program = with_distance(lowered.program, lowered.machine)
    scales = np.float32(2.0) ** np.arange(0, 120, 2)
    answers = interpret(program, np.float32(scales[:, None] * held_out()[:1]))
    accepted = answers.results["status"] == 0
    assert 3 < accepted.sum() < 60
    assert np.isfinite(answers.bounds).all() and np.isfinite(answers.results["upper"]).all()


@pytest.mark.parametrize("task", ["binary", "one_class"])
def test_with_nearly_all_vectors_most_labels_are_certified(task):
    machine = readers.load_model(estimator(task))
    selection = pursue(machine, machine.n_support_vectors, "orthogonal_least_squares")
    n = len(selection) - 2
    fewer = standing_for(machine, selection.reduced(n))
    lowered = lower_in_format(fewer, load_target("host"), "digits", "float32")
    program = with_distance(lowered.program, lowered.machine)
    assert interpret(program, held_out()[:300]).results["certified"].mean() > 0.5


def test_another_machine_keeps_its_program():
    machine = readers.load_model(estimator("binary"))
    lowered = lower_in_format(machine, load_target("host"), "digits", "float32")
    assert with_distance(lowered.program, lowered.machine) is lowered.program


def test_other_kernels_are_refused():
    _, fewer = reduced("binary", 20)
    with pytest.raises(InputError, match="for the kernels rbf, laplacian, chi2, matern, rational"):
        constant_distance(replace(fewer, kernel=Sigmoid(0.1, 1.0)))
    assert (constant_distance(fewer) >= fewer.reduced_from.distance).all()


def test_vectors_with_both_signs_fill_their_blocks():
    _, fewer = reduced("one_vs_one", 300)
    n_signed = sum(-(-len(group.vectors) // 4) for group in sign_groups(fewer))
    groups, mixed = vector_groups(fewer, 4)
    assert mixed
    assert [len(group.vectors) for group in groups] == [n for n in fewer.class_counts if n]
    assert sum(-(-len(group.vectors) // 4) for group in groups) < n_signed / 2


def test_integers_have_each_row_twice():
    _, fewer = reduced("one_vs_one", 300)
    once, twice = mixed_groups(fewer), integer_groups(fewer, 4)
    for group, both in zip(once, twice, strict=True):
        n = len(group.rows)
        assert both.decisions == group.decisions * 2
        assert (both.rows[:n] >= 0).all() and (both.rows[n:] <= 0).all()
        np.testing.assert_array_equal(both.rows[:n] + both.rows[n:], group.rows)


def test_a_trained_machine_keeps_one_row_a_decision():
    machine = readers.load_model(estimator("one_vs_one"))
    assert not vector_groups(machine, 4)[1]
    assert len(integer_groups(machine, 4)[0].rows) == 9
