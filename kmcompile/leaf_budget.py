"""The largest leaf of a routed machine with which no query exceeds `--max-instructions`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from kmcompile.choice.program import choose_program
from kmcompile.errors import BudgetError, ToolError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.output.trial_build import trial_build
from kmcompile.program.program import Program
from kmcompile.reduction.reducible import leaves_reducible
from kmcompile.request.plan import Plan
from kmcompile.verify.worst_case import static_worst_case

_SIZES = (8, 16)
"""Leaves of which the instructions of a vector are measured."""


def most_of_leaf(machine: KernelMachine, plan: Plan, tell: Callable[[str], None]) -> int | None:
    """Return the most vectors of a leaf with which no query exceeds the plan's instructions.

    The static worst case is a constant and a number of instructions a vector of the largest leaf.
    Both are found by building machines of a few vectors a leaf.

    Parameters
    ----------
    machine : KernelMachine
        The machine as it was trained.
    plan : Plan
    tell : callable
        Called with a few words as each step begins.

    Returns
    -------
    int or None
        None if no leaf need be reduced, or if that does not help: the machine has no leaves or not
        such as can be reduced, or there is no worst case.

    Raises
    ------
    BudgetError
        If the route and leaves of a single vector exceed the budget.
    """
    allowed = plan.budgets.instructions
    if allowed is None or machine.routing is None or not leaves_reducible(machine):
        return None
    if plan.options.reduce == "off":
        return None
    if plan.target.emulator is None or plan.options.verify in ("none", "host"):
        return None
    tell("counting the instructions of a leaf")
    try:
        counted = [_instructions(machine, n, plan) for n in _SIZES]
    except ToolError:
        return None  # checked again when there is a program, with a reason
    if counted[0] is None or counted[1] is None:
        return None
    each = max(1.0, (counted[1] - counted[0]) / (_SIZES[1] - _SIZES[0]))
    largest = int(np.diff(machine.routing.leaf_ends, prepend=0).max())
    n = _SIZES[0] + int((allowed - counted[0]) // each)
    return None if n >= largest else _confirmed(machine, max(n, 1), plan, allowed)


def _confirmed(machine: KernelMachine, n: int, plan: Plan, allowed: int) -> int:
    """Return the largest number up to n whose worst case is within the budget."""
    while True:
        worst = _instructions(machine, n, plan)
        if worst is None or worst <= allowed:
            return n
        if n == 1:
            raise BudgetError(
                f"{plan.name}: with a single vector a leaf a query may take {worst:,} instructions "
                f"in the worst case, {plan.target.name} may use {allowed:,}\n"
                "train with a route of two levels, or with fewer leaves"
            )
        n -= 1


def _instructions(machine: KernelMachine, n: int, plan: Plan) -> int | None:
    """Return the static worst case if each leaf had its first n vectors only."""
    program = choose_program(_cut(machine, n), plan, lambda _: None).program
    return instructions_of(program, plan, machine.description)


def instructions_of(program: Program, plan: Plan, description: str) -> int | None:
    """Return the static worst case of a program, for which it is built; None if there is none.

    Raises
    ------
    KmcompileError
        If the program cannot be built.
    """
    with trial_build(program, plan.target, plan.command, description) as (artifact, folder):
        return static_worst_case(artifact, folder).instructions


def _cut(machine: KernelMachine, n: int) -> KernelMachine:
    """Return the machine with the first n vectors of each leaf."""
    routing = machine.routing
    assert routing is not None
    sizes = np.diff(routing.leaf_ends, prepend=0)
    place = np.arange(len(machine.support_vectors)) - np.repeat(routing.leaf_ends - sizes, sizes)
    kept = place < n
    cut = replace(
        routing,
        leaf_ends=np.minimum(sizes, n).cumsum(),
        relative_gamma=routing.relative_gamma[kept],
    )
    return replace(
        machine,
        support_vectors=machine.support_vectors[kept],
        dual_coef=machine.dual_coef[:, kept],
        routing=cut,
    )
