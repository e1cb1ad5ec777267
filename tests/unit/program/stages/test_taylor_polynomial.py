"""Taylor polynomials: their intervals hold f, and each term of the bound is needed."""

from __future__ import annotations

from dataclasses import fields, replace
from math import comb

import numpy as np
import pytest

from kit import catalogue, taylor
from kit.emitted import Emitted
from kmcompile.kernels import Rbf
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import UNKNOWN, Batch
from kmcompile.program.interpreter import Status
from kmcompile.program.stages import TaylorPolynomial


def stage_of(emitted: Emitted) -> TaylorPolynomial:
    return next(s for s in emitted.program.stages if isinstance(s, TaylorPolynomial))


def batch_of(emitted: Emitted) -> tuple[np.ndarray, Batch]:
    """Return the queries that are accepted and their prepared batch."""
    program = emitted.program
    X = emitted.queries[emitted.answers.results["status"] == Status.OK]
    return X, program.prepare.run(Batch.of(X, program.n_decisions))


@pytest.mark.parametrize("case", taylor.CORE, ids=str)
def test_every_interval_holds_the_decisions(case):
    emitted = catalogue.emitted(case, "host")
    X, batch = batch_of(emitted)
    reference = evaluate(emitted.machine, X)
    stage, ends = stage_of(emitted), emitted.program.ends
    after, decided = stage.decide(batch, ends)
    assert (after.least <= reference.decisions + reference.error).all()
    assert (after.most >= reference.decisions - reference.error).all()
    assert (after.label[decided] == reference.labels[decided]).all()
    assert decided.mean() > 0.25
    spent = after.operations - batch.operations
    assert spent.max() == stage.worst_operations(ends)
    assert stage.n_terms == comb(stage.n_features + stage.degree, stage.degree) - 1


def test_the_answers_do_not_depend_on_the_other_queries():
    emitted = catalogue.emitted(taylor.CORE[0], "host")
    _, batch = batch_of(emitted)
    stage, ends = stage_of(emitted), emitted.program.ends
    together, _ = stage.decide(batch, ends)
    alone, _ = stage.decide(batch.chosen(slice(5, 20)), ends)
    for field in fields(Batch):
        found, expected = getattr(alone, field.name), getattr(together, field.name)[5:20]
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("field", ["x", "deviation"])
def test_inputs_that_are_far_away_or_far_off_prove_nothing(field):
    emitted = catalogue.emitted(taylor.CORE[0], "host")
    _, batch = batch_of(emitted)
    far = replace(batch, **{field: np.full_like(getattr(batch, field), 1e6)})
    after, decided = stage_of(emitted).decide(far, emitted.program.ends)
    assert not decided.any()
    assert (after.least == -UNKNOWN).all()
    assert (after.most == UNKNOWN).all()


def test_the_orders_above_the_degree_are_needed():
    """Without the constants of the powers above K some intervals miss f."""
    emitted = catalogue.emitted(taylor.CORE[0], "host")
    X, batch = batch_of(emitted)
    stage, ends = stage_of(emitted), emitted.program.ends
    bounds = stage.bounds.copy()
    bounds[:, :, stage.degree : stage.degree + 3] *= np.float32(0.05)
    after, _ = replace(stage, bounds=bounds).decide(batch, ends)
    reference = evaluate(emitted.machine, X)
    assert ((after.least > reference.decisions) | (after.most < reference.decisions)).any()


def test_a_higher_degree_has_narrower_intervals():
    widths = []
    for degree in (2, 4, 6):
        case = replace(taylor.CORE[3], degree=degree)
        emitted = catalogue.emitted(case, "host")
        _, batch = batch_of(emitted)
        after, _ = stage_of(emitted).decide(batch, emitted.program.ends)
        known = after.least[:, 0] > -UNKNOWN
        widths.append(np.median(after.most[known] - after.least[known]))
    assert widths[0] > 2 * widths[1] > 4 * widths[2]


def test_a_polynomial_has_the_value_of_the_machine_at_its_centre():
    emitted = catalogue.emitted(taylor.CORE[0], "host")
    stage, machine = stage_of(emitted), taylor.passed(emitted.machine)
    assert isinstance(machine.kernel, Rbf)
    leaves = stage.centres[stage.first_leaf :].astype(np.float64)
    kernels = machine.kernel.values(machine.support_vectors, leaves)
    beta = machine.dual_coef[0]
    value, size = kernels @ beta, kernels @ np.abs(beta)
    # Stored in float32; two sums of so many terms, whose kernels have 8 roundings each, in float64.
    rounded = 2.0**-24 * np.abs(value) + 2 * (len(beta) + 8 * stage.n_features) * 2.0**-53 * size
    assert (np.abs(stage.terms[:, 0, 0] - value) <= rounded).all()
