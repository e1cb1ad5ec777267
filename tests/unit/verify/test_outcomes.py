"""A label can be the model's exactly if some outcome of the open signs gives it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from itertools import product

import numpy as np
import pytest
from sklearn.svm import SVC, LinearSVC

from kit.hand_made_cascade import digits
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate, labels_of
from kmcompile.readers import load_model
from kmcompile.verify.outcomes import can_be

ERROR = 1e-9


@cache
def machine(n_classes: int, break_ties: bool = False) -> KernelMachine:
    X, y = digits(tuple(range(n_classes)))
    return load_model(SVC(break_ties=break_ties).fit(X[::4], y[::4]))


def possible(model: KernelMachine, decisions: np.ndarray, is_open: np.ndarray) -> set[int]:
    """Return the labels of all outcomes of the open pairs."""
    signs = np.array(list(product((-1.0, 1.0), repeat=int(is_open.sum()))))
    outcomes = np.repeat(decisions[None, :], len(signs), axis=0)
    outcomes[:, is_open] = signs * ERROR / 2
    return set(labels_of(model, outcomes).tolist())


@pytest.mark.parametrize("break_ties", [False, True])
@pytest.mark.parametrize("n_classes", [3, 5, 10])
def test_every_label_is_judged_as_by_going_through_all_outcomes(n_classes, break_ties):
    model = machine(n_classes, break_ties)
    rng = np.random.default_rng(n_classes)
    X, _ = digits(tuple(range(n_classes)))
    mixtures = X[rng.permutation(len(X))[:150]] / 2 + X[rng.permutation(len(X))[:150]] / 2
    decisions = evaluate(model, mixtures).decisions
    n_ambiguous = 0
    for f in decisions:
        # The pairs nearest to 0 are the ones that can be open.
        is_open = np.zeros(len(f), dtype=bool)
        is_open[np.argsort(np.abs(f))[: rng.integers(0, min(len(f), 8) + 1)]] = True
        f = np.where(is_open, 0.0, f)
        labels = possible(model, f, is_open)
        n_ambiguous += len(labels) > 1
        for label in range(n_classes):
            assert can_be(model, f, np.full(len(f), ERROR), label) == (label in labels)
    assert n_ambiguous > 3


def test_random_votes_with_many_open_pairs_are_judged_so_too():
    model, rng = machine(5), np.random.default_rng(0)
    seen = set()
    for _ in range(300):
        is_open = rng.random(10) < rng.random()
        f = np.where(is_open, 0.0, rng.choice([-1.0, 1.0], size=10))
        labels = possible(model, f, is_open)
        seen.add(len(labels))
        for label in range(5):
            assert can_be(model, f, np.full(10, ERROR), label) == (label in labels)
    assert seen == {1, 2, 3, 4, 5}


@pytest.mark.parametrize("zero_is_positive", [False, True])
def test_a_binary_label_is_open_within_the_error_only(zero_is_positive):
    model = replace(machine(2), zero_is_positive=zero_is_positive)
    error = np.array([ERROR])
    for f, labels in ((2 * ERROR, {1}), (-2 * ERROR, {0}), (ERROR / 2, {0, 1}), (0.0, {0, 1})):
        assert {label for label in (0, 1) if can_be(model, np.array([f]), error, label)} == labels


def test_one_vs_rest_is_open_where_the_intervals_meet():
    X, y = digits()
    model = load_model(LinearSVC(random_state=0).fit(X[::4], y[::4]))
    f = np.full(10, -1.0)
    f[[2, 7, 8]] = (1.0, 1.0 - 1.5 * ERROR, 1.0 - 2.5 * ERROR)
    open_labels = {n for n in range(10) if can_be(model, f, np.full(10, ERROR), n)}
    assert open_labels == {2, 7}
