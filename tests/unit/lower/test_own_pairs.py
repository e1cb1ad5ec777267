"""Leaves that vote among their own classes: leaving out all other pairs changes nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import make_blobs

import kmcompile
from kit.emitted import named
from kit.routed import VOTES, Routed, samples
from kmcompile.lower import routed_fixed_sum, routed_sum
from kmcompile.lower.formats import lower_in_format
from kmcompile.model.reference import evaluate
from kmcompile.program.interpreter import interpret
from kmcompile.program.stages import RoutedFixedSum, RoutedSum
from kmcompile.training import FaLKSVC


def lowered(machine, number_format="float32"):
    """Return the program in a format."""
    return lower_in_format(machine, named("host"), "cells", number_format).program


@pytest.mark.few
@pytest.mark.parametrize("case", VOTES, ids=str)
def test_decisions_are_those_of_tables_of_all_pairs(case: Routed, monkeypatch: pytest.MonkeyPatch):
    machine = case.machine()
    own = lowered(machine, case.number_format)
    for module in (routed_sum, routed_fixed_sum):
        monkeypatch.setattr(module, "lower_own_pairs", lambda *_: None)
    dense = lowered(machine, case.number_format)
    assert isinstance(own.sum, RoutedSum | RoutedFixedSum)
    assert own.sum.own_pairs is not None
    assert dense.sum.own_pairs is None
    X = np.float32(samples(case.data)[0])
    few, all_pairs = interpret(own, X), interpret(dense, X)
    np.testing.assert_array_equal(few.decisions, all_pairs.decisions)
    np.testing.assert_array_equal(few.results["label"], all_pairs.results["label"])
    settled = np.abs(few.decisions) == 1
    if case.number_format == "float32":  # in integers one of them may have a row of bounds a leaf
        np.testing.assert_array_equal(few.bounds, np.where(settled, 0, all_pairs.bounds))
        assert own.table_bytes < dense.table_bytes


@pytest.mark.parametrize("case", VOTES, ids=str)
def test_certified_labels_are_the_models(case: Routed):
    machine = case.machine()
    rng = np.random.default_rng(0)
    X = samples(case.data)[0]
    X = np.float32(X[rng.integers(len(X), size=4000)] + rng.normal(scale=0.5, size=(4000, 6)))
    answer, reference = interpret(lowered(machine, case.number_format), X), evaluate(machine, X)
    off = np.abs(answer.decisions - reference.decisions)
    clear = np.isfinite(reference.error)
    assert (off <= answer.bounds + reference.error)[clear].all()
    sure = answer.results["certified"].astype(bool)
    assert sure.any()
    assert (answer.results["label"] == reference.labels)[sure].all()


def test_a_pair_that_no_class_settles_keeps_tables_of_all_pairs():
    machine = Routed("wine", 6, extra="votes").machine()
    intercepts = machine.routing.intercepts.copy()
    constant = np.argwhere(np.abs(intercepts) == 1.0)
    intercepts[tuple(constant[0])] *= -1
    turned = replace(machine, routing=replace(machine.routing, intercepts=intercepts))
    assert lowered(machine).sum.own_pairs is not None
    assert lowered(turned).sum.own_pairs is None


@pytest.mark.exhaustive
@pytest.mark.parametrize("number_format", ["float32", "int16"])
def test_forty_classes_are_compiled(number_format: str):
    X, y = make_blobs(1200, n_features=3, centers=40, cluster_std=1.5, random_state=0)
    model = FaLKSVC(40, 20, C=10.0, gamma=0.2, selection="nearest_centre", random_state=0)
    model.fit(X[:800], y[:800])
    compiled = kmcompile.compile_model(model, target="host", name="cells", format=number_format)
    assert compiled.report["verification"]["exact"]["host"]["mismatches"] == 0
    result = compiled.classify(np.float32(X[800:]))
    sure = result["certified"]
    assert sure.mean() > 0.9
    assert (result["label"] == model.predict(np.float32(X[800:])))[sure].all()
