"""What searches take of machines of many vectors is announced, and bounded whatever their shape."""

from __future__ import annotations

from math import inf
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import kmcompile
from kit import many_vectors
from kmcompile.errors import BudgetError
from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified import (
    certify,
    expansion_norms,
    local_expansion,
    sequence_offers,
    taylor_polynomial,
)
from kmcompile.exits.certified.expansion import LARGEST_EXPONENT, Vectors, expand
from kmcompile.exits.certified.expansion_moments import MANY, n_moments
from kmcompile.exits.certified.expansion_size import Size
from kmcompile.exits.certified.many_vectors import MOST_OPERATIONS, most_operations
from kmcompile.lower import many_pairs
from kmcompile.model.kernel_machine import Task
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import interpret
from kmcompile.readers.npz.model import read_npz_model

MOST = 6e11
"""Most multiply-adds of all searches for one program: less than a minute."""

SHAPES = [(1, 15), (3, 2), (3, 4), (4, 4), (5, 4), (10, 7), (54, 2), (54, 7), (784, 10)]


def machine(n_vectors: int, n_features: int, n_classes: int) -> Any:
    """Return what the budgets ask of a machine."""
    return SimpleNamespace(
        support_vectors=np.broadcast_to(0.0, (n_vectors, n_features)),
        n_support_vectors=n_vectors,
        n_classes=n_classes,
        n_decisions=n_classes * (n_classes - 1) // 2,
        task=Task.ONE_VS_ONE,
    )


def n_pairs(n_vectors: int) -> int:
    """Return at most how many pairs of vectors a bound takes, each pair counted twice."""
    n_groups = many_pairs.n_groups_of(n_vectors)
    return n_groups * (-(-n_vectors // n_groups)) ** 2


def spent_on_trees(subject: Any, shapes: Any, budget: SearchBudget) -> float:
    """Return the multiply-adds of the trees of some shapes, for each number of labels."""
    room: Any = SimpleNamespace(table_bytes_of=lambda program: inf)
    for shape in shapes:
        for n_labels in range(1, min(4, subject.n_classes) + 1):
            own = local_expansion.affordable(shape, subject, subject, room, budget, n_labels)
            if own:
                local_expansion.spend(own, subject, budget, n_labels)
    return budget._spent


@pytest.mark.parametrize("n_vectors", [5_001, 20_000, 50_000, 1_000_000])
def test_all_searches_of_many_vectors_are_bounded_together(n_vectors):
    for n_features, n_classes in SHAPES:
        subject = machine(n_vectors, n_features, n_classes)
        total = 0.0
        for name, shapes in (
            ("local_expansion", (*local_expansion._SHAPES, local_expansion._BY_LABEL)),
            ("taylor_polynomial", (taylor_polynomial._SHAPE,)),
        ):
            budget = SearchBudget(name, operations=most_operations(subject, name))
            total += spent_on_trees(subject, shapes, budget)
        of_sequence = sequence_offers._operations(subject)
        if of_sequence <= most_operations(subject, "bound_sequence"):
            total += of_sequence + most_operations(subject, "bound_sequence of free vectors")
        assert total <= MOST


def test_the_few_vectors_of_other_machines_have_no_smaller_budget():
    for n_features, n_classes in SHAPES:
        for name in MOST_OPERATIONS:
            assert most_operations(machine(MANY, n_features, n_classes), name) == inf
            assert most_operations(machine(50_000, n_features, n_classes), name) < inf


@pytest.mark.parametrize(("n_vectors", "n_features"), [(1_100, 2), (1_100, 12)])
def test_an_expansion_takes_no_more_than_it_announces(n_vectors, n_features, monkeypatch):
    rng = np.random.default_rng(0)
    vectors = rng.normal(size=(n_vectors, n_features)) / np.sqrt(n_features)
    of = Vectors(1.0, vectors, rng.normal(size=(2, n_vectors)))
    taken = []
    moments, traces = expansion_norms.expansion_moments.moments, expansion_norms._traces
    squares = expansion_norms._squares

    def counted_moments(t, c, order):
        taken.append(c.size * n_moments(t.shape[1], order))
        return moments(t, c, order)

    def counted_traces(t, beta, c, order):
        taken.append(len(t) * c.size * (order - 2))
        return traces(t, beta, c, order)

    def counted_squares(t, c, last):
        taken.append(len(t) * c.size * t.shape[1] * (last - 2))
        return squares(t, c, last)

    monkeypatch.setattr(expansion_norms.expansion_moments, "moments", counted_moments)
    monkeypatch.setattr(expansion_norms, "_traces", counted_traces)
    monkeypatch.setattr(expansion_norms, "_squares", counted_squares)
    expand(of, np.arange(2), np.zeros(n_features), np.sqrt(LARGEST_EXPONENT / 2) * (1 - 1e-6))
    announced = Size(n_vectors, n_features, 2)
    assert announced.by_moments == (n_features == 2)
    assert 0 < sum(taken) <= announced.operations


def test_a_distance_takes_no_more_pairs_than_it_announces(monkeypatch):
    taken = []
    kernels = many_pairs.Moved._kernels

    def counted(self, x):
        for part, rest, values in kernels(self, x):
            taken.append(values.size)
            yield part, rest, values

    monkeypatch.setattr(many_pairs.Moved, "_kernels", counted)
    monkeypatch.setattr(many_pairs, "MOST_TOGETHER", 64)
    monkeypatch.setattr(many_pairs, "_BLOCK_VALUES", 64)
    x = np.random.default_rng(0).normal(size=(1_000, 2))
    for _, group in many_pairs.Moved(1.0, x, np.rint(64 * x) / 64).groups():
        group.length(np.ones((1, len(group.stored))))
    assert 0.4 * n_pairs(1_000) <= sum(taken) <= n_pairs(1_000)


@pytest.mark.parametrize("n_vectors", [8_193, 50_000, 1_000_000])
def test_pairs_of_a_distance_grow_with_the_vectors_not_with_their_square(n_vectors):
    assert n_pairs(n_vectors) <= (n_vectors + 200) * many_pairs.MOST_TOGETHER


@pytest.mark.exhaustive
def test_no_exit_is_searched_where_the_tables_alone_do_not_fit(tmp_path, monkeypatch):
    monkeypatch.setattr(certify, "fit", None)
    path = many_vectors.write(tmp_path / "many.npz", 2_000, 3)
    with pytest.raises(BudgetError):
        kmcompile.compile_model(
            path, out=tmp_path / "made", format="float32", max_flash=20_000, verify="none"
        )


@pytest.mark.exhaustive
def test_twenty_thousand_vectors_compile_with_the_machines_labels_where_certified(tmp_path):
    path = many_vectors.write(tmp_path / "many.npz", 20_000, 3)
    made = kmcompile.compile_model(path, out=tmp_path / "made", verify="none", optimize="mean")
    program = made.program
    assert "local_expansion" in {stage.template for stage in program.early_exits}
    subject = read_npz_model(path.read_bytes())
    X = subject.support_vectors[::40].astype(np.float32) + np.float32(0.1)
    results = interpret(program, X).results
    sure = results["certified"]
    assert sure.mean() > 0.9
    np.testing.assert_array_equal(results["label"][sure], evaluate(subject, X).labels[sure])
