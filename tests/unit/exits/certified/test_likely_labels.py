"""Which decisions a centre bounds: those that prove the likeliest labels there."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC

from kit.emitted import emit_model
from kmcompile.exits.certified.likely_labels import likely_labels, n_rows, worthwhile
from kmcompile.model.kernel_machine import KernelMachine

LABELS = np.array([3] * 5 + [1] * 3 + [0])


def machine(model) -> KernelMachine:
    X, y = load_wine(return_X_y=True)
    y = y + (X[:, 0] > 13.5) * (y == 0) * 3  # the labels 0 to 3
    return emit_model(model.fit(X / X.std(axis=0), y), "host", "wine").machine


@pytest.fixture(scope="module")
def four() -> KernelMachine:
    return machine(SVC(gamma=0.05))


@pytest.mark.parametrize(
    ("n_labels", "decisions", "proving"),
    [
        (1, [2, 4, 5], [[2, 4, 5]]),
        (2, [0, 2, 3, 4, 5], [[2, 4, 5], [0, 3, 4]]),
        (3, [0, 1, 2, 3, 4, 5], [[2, 4, 5], [0, 3, 4], [0, 1, 2]]),
    ],
)
def test_a_centre_has_all_pairs_of_its_likeliest_labels(four, n_labels, decisions, proving):
    found = likely_labels(four, LABELS, n_labels)
    assert found.decisions.tolist() == decisions
    assert [found.decisions[rows].tolist() for rows in found.proving] == proving
    assert found.counts.tolist() == [5, 3, 1, 0]
    assert n_rows(four, n_labels) == len(decisions)


def test_one_label_more_is_asked_for_where_samples_have_it(four):
    assert list(worthwhile(four, [np.array([50, 0, 0, 0])])) == []
    assert list(worthwhile(four, [np.array([40, 9, 0, 0]), np.array([51, 0, 0, 0])])) == [2]
    assert list(worthwhile(four, [np.array([40, 9, 0, 0]), np.array([46, 3, 2, 0])])) == [2, 3]


def test_without_pairs_a_centre_has_all_decisions():
    rest = machine(OneVsRestClassifier(SVC(gamma=0.05)))
    found = likely_labels(rest, LABELS)
    assert found.decisions.tolist() == [0, 1, 2, 3]
    assert found.proving.all()
    assert list(worthwhile(rest, [found.counts])) == []
