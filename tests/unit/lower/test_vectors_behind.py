"""Reduced machines of few vectors: the trained machine's vectors say what inputs there are."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer, StandardScaler
from sklearn.svm import SVC

from kit.function_kernels import load_machine
from kit.reduced_digits import TRAINED, digits
from kmcompile.lower.formats import lower_in_format, lower_unchecked
from kmcompile.lower.reduced import with_distance
from kmcompile.model.reference import evaluate
from kmcompile.passes.reduction.distance import standing_for
from kmcompile.passes.reduction.pursuit import pursue
from kmcompile.passes.vectors_behind import vectors_behind
from kmcompile.program.interpreter import Status, interpret
from kmcompile.target import load_target

X = np.random.default_rng(0).normal(size=(200, 4)).astype(np.float32).astype(np.float64)
Y = X[:, 0] * X[:, 1] + X[:, 2] > 0
PLACES = {"real": X, "integers": np.rint(40 * X), "far": X + 1000.0}


def fewer(model, n):
    machine = load_machine(model)
    return machine, standing_for(machine, pursue(machine, n).reduced(n))


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("number_format", ["int8", "int16"])
@pytest.mark.parametrize("place", PLACES)
def test_integer_formats_accept_what_the_trained_machine_s_accept(place, number_format, n):
    data, host = PLACES[place], load_target("host")
    machine, reduced = fewer(SVC(C=10.0).fit(data[:100], Y[:100]), n)
    queries = data.astype(np.float32)
    lowered = lower_unchecked(reduced, host, "few", number_format)
    trained = lower_unchecked(machine, host, "all", number_format)
    program = with_distance(lowered.program, lowered.machine)
    answers = interpret(program, queries)
    accepted = answers.results["status"] == Status.OK
    assert accepted[:100].all()
    assert (accepted == (interpret(trained.program, queries).results["status"] == Status.OK)).all()
    reference = evaluate(machine, queries)
    error = np.abs(answers.decisions - reference.decisions)[accepted]
    assert (error <= answers.bounds[accepted] + reference.error[accepted]).all()


@cache
def few_digits():
    """Return a machine of all digits behind a Normalizer, and one of 3 vectors for it."""
    pixels, y = digits()
    svc = SVC(kernel="poly", degree=2, gamma=5.0)
    return fewer(make_pipeline(Normalizer(), svc).fit(pixels[:TRAINED], y[:TRAINED] == 8), 3)


def test_features_that_only_the_trained_machine_has_count_in_the_bound():
    machine, reduced = few_digits()
    lowered = lower_in_format(reduced, load_target("host"), "digits", "float32")
    program = with_distance(lowered.program, lowered.machine)
    queries = np.eye(64, dtype=np.float32)
    answers, reference = interpret(program, queries), evaluate(machine, queries)
    error = np.abs(answers.decisions - reference.decisions)
    assert (error <= answers.bounds + reference.error).all()
    seen = (machine.support_vectors != 0).any(axis=0).sum()
    assert lowered.machine.support_vectors.shape[1] == seen < 64
    assert (reduced.support_vectors != 0).any(axis=0).sum() < seen


def test_the_vectors_have_one_order_of_columns():
    columns = ColumnTransformer([("all", StandardScaler(), [3, 1, 0, 2])])
    machine, reduced = fewer(make_pipeline(columns, SVC()).fit(X, Y), 2)
    lowered = lower_in_format(reduced, load_target("host"), "few", "float32").machine
    vectors = vectors_behind(lowered)
    assert len(vectors) == 2 + machine.n_support_vectors
    assert all((vectors[2:] == own).all(axis=1).any() for own in vectors[:2])
    assert vectors_behind(machine) is machine.support_vectors
