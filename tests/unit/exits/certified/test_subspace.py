"""Fitting subspace certificates: for which machines, what is tried, what is stored."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cache

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer
from sklearn.svm import SVC

from kit import catalogue, subspaces
from kit.emitted import emit_model
from kit.shared_data import data_file
from kmcompile.exits.certified.lower_subspace import shares
from kmcompile.exits.certified.subspace import fit_subspace, supports
from kmcompile.program.interpreter import classify
from kmcompile.program.stages.early_exits.subspace_certificate import SubspaceCertificate
from kmcompile.program.storage import load, save


@cache
def machine_on_digits():
    """Return the NSV paper's machine for 0 and 1, from 1,500 digits; its program, fresh inputs."""
    with np.load(data_file("mnist")) as file:
        rows = np.flatnonzero(np.isin(file["y_train"], (0, 1)))[:2100]
        X = file["X_train"][rows].reshape(len(rows), -1).astype(np.float32) / np.float32(255)
        y = file["y_train"][rows]
    classifier = SVC(kernel="poly", degree=9, gamma=1.0, coef0=0.0, C=1)
    model = make_pipeline(Normalizer(), classifier).fit(X[:1500], y[:1500])
    plain = emit_model(model, "host", "digits")
    return plain.machine, plain.program, X[1500:]


@pytest.mark.parametrize(
    "case",
    [
        catalogue.Case("SVC", "rbf", "binary", "raw"),
        catalogue.Case("SVC", "sigmoid", "binary", "raw"),
        catalogue.Case("SVC", "linear", "binary", "raw"),
        catalogue.Case("SVC", "poly", "one_vs_one", "raw"),
        catalogue.Case("SVC", "poly", "binary", "raw", parameters=(("degree", 1),)),
    ],
    ids=str,
)
def test_other_machines_have_none(case):
    emitted = catalogue.emitted(case, "host")
    assert not supports(emitted.machine, emitted.program)
    assert fit_subspace(emitted.machine, emitted.program, emitted.queries) == []


def test_where_vectors_are_many_a_certificate_halves_the_cost_of_unseen_queries():
    machine, program, fresh = machine_on_digits()
    stages = fit_subspace(machine, program, fresh[:300])
    assert 1 <= len(stages) <= 3
    ends = program.ends
    _, alone = classify(program, fresh[300:])
    decided = []
    for stage in stages:
        cascade = replace(program, exits=(*program.exits, stage))
        results, operations = classify(cascade, fresh[300:])
        assert operations.mean() < 0.5 * alone.mean()
        decided.append((results["stage"] == 0).mean())
        assert stage.worst_operations(ends) < 0.25 * ends.exact.operations()
    assert decided[0] > 0.95 and min(decided) > 0.9


def test_the_same_samples_give_the_same_stage():
    machine, program, fresh = machine_on_digits()
    first, again = (fit_subspace(machine, program, fresh[:100])[0] for _ in range(2))
    for name in ("vectors", "weights"):
        np.testing.assert_array_equal(getattr(first, name), getattr(again, name))
    np.testing.assert_array_equal(first.products.blocks, again.products.blocks)
    np.testing.assert_array_equal(first.remainder.orders, again.remainder.orders)
    assert first.max_touched == again.max_touched


def test_features_that_are_0_in_every_vector_are_not_looked_at():
    emitted = catalogue.emitted(subspaces.CORE[0], "host")
    stage = next(s for s in emitted.program.stages if isinstance(s, SubspaceCertificate))
    used = np.flatnonzero(np.abs(emitted.machine.support_vectors).sum(axis=0))
    np.testing.assert_array_equal(stage.products.columns, used)
    assert 0 < len(used) < emitted.machine.support_vectors.shape[1]


@pytest.mark.parametrize("degree", range(2, 21))
def test_powers_in_between_are_at_most_what_stands_for_them(degree):
    y = np.geomspace(1e-3, 1e3, 41)
    middle = (degree - 1) // 2
    for order, (a, b, c) in enumerate(shares(degree), start=1):
        assert min(a, b, c) >= 0
        bound = a * y ** (degree - 1) + b * y**middle + c
        assert (bound >= y ** (degree - order) * (1 - 1e-12)).all()
        assert a + b + c == pytest.approx(1.0)


def test_a_stored_program_has_all_of_the_remainder():
    program = catalogue.emitted(subspaces.CORE[0], "host").program
    again = load(save(program), "program.npz")
    stage, loaded = (
        next(s for s in p.stages if isinstance(s, SubspaceCertificate)) for p in (program, again)
    )
    for field in fields(stage.remainder):
        value, read = getattr(stage.remainder, field.name), getattr(loaded.remainder, field.name)
        np.testing.assert_array_equal(value, read)
        assert type(value) is type(read)
