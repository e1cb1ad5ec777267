"""--max-instructions of routed machines: the leaves that exceed it are reduced."""

from __future__ import annotations

import numpy as np
import pytest

import kmcompile
from kit.routed import Routed
from kit.tools import need_tools
from kmcompile.errors import BudgetError, ToolError
from kmcompile.leaf_budget import most_of_leaf
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.request.options import Options
from kmcompile.request.plan import Request
from kmcompile.target import load_target


def most(machine: KernelMachine, **options) -> int | None:
    asked = Request.of(machine, Options(name="m", **options)).plan(machine)
    return most_of_leaf(machine, asked, lambda _: None)


def compiled(machine: KernelMachine, **options):
    options = {"target": "cortex-m4", "mode": "exact", "optimize": "mean", **options}
    return kmcompile.compile_model(machine, name="m", **options)


def worst(made) -> int:
    return made.report["target"]["instructions"]["worst"]


@pytest.mark.parametrize(
    ("case", "options"),
    [
        (Routed("wine", 4), {"target": "cortex-m4"}),
        (Routed("wine", 4), {"target": "host", "max_instructions": 10}),
        (Routed("wine", 4), {"target": "cortex-m4", "max_instructions": 10, "reduce": "off"}),
        (Routed("wine", 4), {"target": "cortex-m4", "max_instructions": 10, "verify": "host"}),
        (Routed("wine", 5, kernel="poly"), {"target": "cortex-m4", "max_instructions": 10}),
    ],
    ids=["no budget", "no count", "refused", "no run", "not reducible"],
)
def test_no_leaf_is_cut_where_that_is_not_asked_or_does_not_help(case, options):
    assert most(case.machine(), **options) is None


def test_where_nothing_counts_the_budget_is_refused_as_always():
    with pytest.raises(ToolError, match="worst case is not known"):
        kmcompile.compile_model(Routed("iris", 5).machine(), name="m", max_instructions=10)


@pytest.mark.exhaustive
@pytest.mark.target
def test_leaves_are_as_large_as_the_budget_allows():
    need_tools(load_target("cortex-m4"))
    machine = Routed("wine", 4).machine()
    whole = compiled(machine)
    budget = worst(whole) * 3 // 4
    n = most(machine, target="cortex-m4", mode="exact", optimize="mean", max_instructions=budget)
    sizes = np.diff(machine.routing.leaf_ends, prepend=0)
    assert 1 <= n < sizes.max()
    made = compiled(machine, max_instructions=budget)
    assert worst(made) <= budget
    # One vector more is counted twice, once for each of two leaves.
    each = (worst(whole) - worst(made)) / (sizes.max() - n)
    assert worst(made) > budget - 2 * each
    assert made.report["reduction"]["vectors_after"] < machine.n_support_vectors
    assert made.report["verification"]["certified"]["wrong"] == 0
    assert "--max-instructions" in made.report["reduction"]["notes"][0]
    assert f"--max-instructions {budget}" in made.report["tool"]["command"]


@pytest.mark.exhaustive
@pytest.mark.target
def test_a_budget_that_nothing_exceeds_changes_no_leaf():
    need_tools(load_target("cortex-m4"))
    machine = Routed("iris", 5).machine()
    made = compiled(machine, max_instructions=10**9)
    assert made.report["reduction"] is None


@pytest.mark.exhaustive
@pytest.mark.target
def test_a_budget_below_the_route_is_refused():
    need_tools(load_target("cortex-m4"))
    with pytest.raises(BudgetError, match="with a single vector a leaf a query may take"):
        compiled(Routed("iris", 5).machine(), max_instructions=100)
