"""Which routed machines get expansions of their leaves, and what these are fitted to."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from kit.lowered import program_of
from kit.plans import plan_for
from kit.routed import Routed, samples
from kmcompile.errors import InputError
from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified.leaf_expansion import leaf_centres, lower_leaf_expansion, why_not
from kmcompile.exits.certified.likely import likely_inputs_of_leaves
from kmcompile.exits.early_exits import WithExits, add_early_exits
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import LeafExpansion
from kmcompile.request.asked_stages import AskedStages
from kmcompile.request.budgets import Budgets


def made(machine: KernelMachine, **changes: object) -> WithExits:
    """Return the program with the exits that a plan of mode certified gives it."""
    plan = replace(plan_for(machine, mode="certified"), **changes)
    return add_early_exits(machine, program_of(machine), plan, lambda text: None)


@pytest.mark.parametrize(
    ("case", "reason"),
    [
        (Routed("iris", 5), ""),
        (Routed("wine", 4), ""),
        (Routed("wine", 5, "chain", "poly"), "of the rbf kernel, not of poly"),
        (Routed("iris", 5, extra="widths"), "more than sums of kernels of one gamma"),
        (Routed("iris", 5, extra="products"), "more than sums of kernels of one gamma"),
        (Routed("iris", 5, extra="linear"), "more than sums of kernels of one gamma"),
        (Routed("diabetes", 4), "not for a regression machine"),
    ],
    ids=str,
)
def test_leaves_that_are_sums_of_rbf_kernels_can_have_expansions(case, reason):
    machine = case.machine()
    assert reason in why_not(machine, program_of(machine))
    if reason and "regression" not in reason:
        with pytest.raises(InputError, match="leaf_expansion cannot be built"):
            made(machine, stages=AskedStages(required=("leaf_expansion",)))


def test_expansions_are_chosen_by_their_cost_and_no_other_exit_is_named():
    machine = Routed("wine", 3).machine()
    found = made(machine, samples=np.float32(samples("wine")[0]), optimize="mean")
    assert [type(stage) for stage in found.program.early_exits] == [LeafExpansion]
    assert found.speedup > 1.0
    assert found.choice is not None
    assert not found.choice.notes


@pytest.mark.parametrize(
    "changes",
    [
        {"budgets": Budgets(flash_bytes=20_000, ram_bytes=None, instructions=None)},
        {"budgets": Budgets(flash_bytes=None, ram_bytes=None, instructions=10**9)},
        {"stages": AskedStages(excluded=("leaf_expansion",))},
    ],
    ids=["flash", "instructions", "excluded"],
)
def test_budgets_and_options_leave_them_out(changes):
    machine = Routed("wine", 3).machine()
    assert not made(machine, samples=np.float32(samples("wine")[0]), **changes).program.exits


def test_a_leaf_without_vectors_has_no_expansion():
    machine = Routed("iris", 5).machine()
    assert machine.routing is not None
    empty = machine.routing.leaf_sizes == 0
    assert empty.any()
    program, X = program_of(machine), np.float32(samples("iris")[0])
    centres = leaf_centres(machine, program, X, SearchBudget("leaf_expansion"))
    assert [centre is None for centre in centres] == empty.tolist()
    stage = lower_leaf_expansion(machine, centres, 2)
    np.testing.assert_array_equal(stage.radius < 0, empty)
    batch = program.prepare.run(Batch.of(X, 1))
    _, decided = stage.decide(batch, program.ends)
    assert not decided[empty[machine.routing.walk(X.astype(np.float64)).leaf]].any()


def test_likely_inputs_reach_all_leaves():
    machine = Routed("iris", 5).machine()
    assert machine.routing is not None
    X = likely_inputs_of_leaves(machine, 600)
    assert np.isfinite(X).all()
    leaf = machine.routing.walk(machine.prepare(X.astype(np.float64))).leaf
    assert len(np.unique(leaf)) == machine.routing.n_leaves
