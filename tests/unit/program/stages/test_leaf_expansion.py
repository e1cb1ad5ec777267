"""Expansions of leaves: their intervals hold f, and they decide as the leaf's sum does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit import catalogue, leaf_expansions
from kit.emitted import Emitted
from kit.leaf_expansions import LeavesExpanded
from kit.lowered import program_of
from kit.routed import Routed
from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified.leaf_expansion import leaf_centres
from kmcompile.exits.certified.lower_expansion import curvature, lower_local_expansion
from kmcompile.model.leaves import leaf_machines
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import UNKNOWN, Batch
from kmcompile.program.cost import worst_operations
from kmcompile.program.interpreter import Status, interpret
from kmcompile.program.stages import LeafExpansion

FLAT = leaf_expansions.CORE[0]


def stage_of(emitted: Emitted) -> LeafExpansion:
    return next(s for s in emitted.program.stages if isinstance(s, LeafExpansion))


def batch_of(emitted: Emitted) -> tuple[np.ndarray, Batch]:
    """Return the queries that are accepted and their prepared batch."""
    X = emitted.queries[emitted.answers.results["status"] == Status.OK]
    return X, emitted.program.prepare.run(Batch.of(X, emitted.program.n_decisions))


@pytest.mark.parametrize("case", leaf_expansions.CORE, ids=str)
def test_every_interval_holds_the_decisions(case):
    emitted = catalogue.emitted(case, "host")
    X, batch = batch_of(emitted)
    reference = evaluate(emitted.machine, X)
    after, decided = stage_of(emitted).decide(batch, emitted.program.ends)
    assert (after.least <= reference.decisions + reference.error).all()
    assert (after.most >= reference.decisions - reference.error).all()
    assert (after.label[decided] == reference.labels[decided]).all()
    assert decided.mean() > 0.15


@pytest.mark.parametrize("case", leaf_expansions.CORE, ids=str)
def test_a_query_costs_its_walk_once_and_no_more_than_the_worst(case):
    emitted = catalogue.emitted(case, "host")
    program, X = emitted.program, emitted.queries
    answers, alone = interpret(program, X), interpret(replace(program, exits=()), X)
    accepted = alone.results["status"] == Status.OK
    spent, without = answers.operations[accepted], alone.operations[accepted]
    decided = answers.results["stage"][accepted] == 0
    assert spent.max() <= worst_operations(program)
    assert spent[decided].mean() < without[decided].mean()
    stage = stage_of(emitted)
    added = stage.worst_operations(program.ends) - stage.saved_operations(program.ends)
    assert (spent[~decided] <= without[~decided] + added).all()
    np.testing.assert_array_equal(answers.decisions, alone.decisions)


def test_the_curved_test_decides_more():
    emitted = catalogue.emitted(FLAT, "host")
    stage, ends = stage_of(emitted), emitted.program.ends
    _, batch = batch_of(emitted)
    linear = replace(
        stage, basis=stage.basis[:1, :0], forms=stage.forms[:0], curved=stage.curved[:0]
    )
    assert stage.decide(batch, ends)[1].sum() > linear.decide(batch, ends)[1].sum() > 0


def test_nothing_is_proved_where_another_leaf_is_possible():
    emitted = catalogue.emitted(FLAT, "host")
    _, batch = batch_of(emitted)
    stage, ends = stage_of(emitted), emitted.program.ends
    batch = batch.chosen(slice(len(FLAT.fresh)))
    far_off = replace(batch, deviation=np.full_like(batch.deviation, 1e3))
    after, decided = stage.decide(far_off, ends)
    assert not decided.any()
    assert (after.least == -UNKNOWN).all()
    assert after.walked.all()
    route = ends.exact.route
    walk = route.most_scores * route.score_operations
    beside_walk = np.unique(after.operations - batch.operations - walk)
    assert len(beside_walk) == 1
    assert 0 < beside_walk[0] < stage.worst_operations(ends) - walk


@pytest.mark.parametrize("extra", ["widths", "linear", "products"])
def test_it_does_not_stand_before_leaves_that_are_more_than_sums_of_one_gamma(extra):
    stage = stage_of(catalogue.emitted(FLAT, "host"))
    other = catalogue.emitted(Routed("iris", 5, extra=extra), "host").program
    assert not stage.stands_before(other.sum)
    assert stage.stands_before(catalogue.emitted(Routed("iris", 5), "host").program.sum)
    with pytest.raises(ValueError, match="cannot stand"):
        replace(other, mode="certified", exits=(stage,))


def random_machine(seed: int) -> Routed:
    """Return the case of a random machine: cells, tree and data change with the seed."""
    data = ("iris", "wine")[seed % 2]
    return Routed(data, 2 + seed % 7, ("flat", "chain")[seed // 2 % 2])


def attacked(case: LeavesExpanded, seed: int) -> tuple[int, int, int]:
    """Return the queries of an attack, those that are proved, and those proved wrongly.

    The coefficients and intercepts are scaled and shifted, so that the boundary passes near the
    centres; the queries lie around the centres at all distances, and beside cells' borders.
    """
    rng = np.random.default_rng(seed)
    machine = case.routed.machine()
    assert machine.routing is not None
    beta = machine.dual_coef * rng.normal(size=machine.dual_coef.shape)
    intercepts = rng.normal(scale=0.3, size=machine.routing.intercepts.shape)
    routing = replace(machine.routing, intercepts=intercepts)
    machine = replace(machine, dual_coef=beta, routing=routing)
    emitted = case.of_machine(machine, "host")
    stage = stage_of(emitted)
    near = stage.centres[rng.integers(len(stage.centres), size=2000)]
    steps = rng.normal(size=near.shape) * 10.0 ** rng.uniform(-4, 0.3, size=(2000, 1))
    X = np.float32(near + steps)
    results = interpret(emitted.program, X).results
    early = results["certified"] & (results["stage"] == 0)
    wrong = results["label"][early] != evaluate(machine, X[early]).labels
    return len(X), int(early.sum()), int(wrong.sum())


@pytest.mark.parametrize(
    "seed", [*range(4), *(pytest.param(n, marks=pytest.mark.exhaustive) for n in range(4, 60))]
)
def test_no_label_of_a_random_machine_is_proved_wrongly(seed):
    _, proved, wrong = attacked(LeavesExpanded(random_machine(seed), seed % 5), seed)
    assert wrong == 0
    assert proved > 0


@pytest.mark.parametrize("n_basis", [0, 3])
def test_the_bounds_of_one_leaf_are_those_of_the_expansion_of_a_plain_machine(n_basis):
    machine = Routed("wine", 1).machine()
    case = LeavesExpanded(Routed("wine", 1), n_basis)
    emitted = case.of_machine(machine, "host")
    _, batch = batch_of(emitted)
    after, _ = stage_of(emitted).decide(batch, emitted.program.ends)
    (leaf,) = leaf_machines(machine)
    assert leaf is not None
    budget = SearchBudget("leaf_expansion")
    (centre,) = leaf_centres(machine, emitted.program, case.fresh[::2], budget)
    assert centre is not None
    plain = lower_local_expansion(leaf, (1,), [[centre]], curvature([centre], n_basis))
    expected, _ = plain.decide(batch, program_of(leaf).ends)
    np.testing.assert_array_equal(after.least, expected.least)
    np.testing.assert_array_equal(after.most, expected.most)
    assert (after.most < UNKNOWN).mean() > 0.5
