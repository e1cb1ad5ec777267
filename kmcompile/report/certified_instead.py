"""What mode certified would have given, worked out beside a program of mode statistical.

It changes nothing of that program: no choice of it, and no promise, rests on what is found here.
"""

from __future__ import annotations

from collections.abc import Callable

from kmcompile.emit.emitter import workspace_bytes
from kmcompile.errors import BudgetError, InputError
from kmcompile.exits.asked_replay import add_asked_replay
from kmcompile.exits.early_exits import add_early_exits, why_none
from kmcompile.lower.formats import Lowered
from kmcompile.lower.program import with_tolerance
from kmcompile.model.kernel_machine import Task
from kmcompile.program.interpreter import Answers
from kmcompile.program.memory import check_fits
from kmcompile.program.program import Program
from kmcompile.report.modes import Modes, compared_modes
from kmcompile.request.plan import Plan
from kmcompile.verify.queries import Queries


def modes_compared(
    lowered: Lowered,
    program: Program,
    plan: Plan,
    answers: Answers,
    queries: Queries,
    tell: Callable[[str], None],
) -> Modes | str:
    """Return what a statistical program takes against that of mode certified, or why not.

    Parameters
    ----------
    lowered : Lowered
        What the program was made from; mode certified gets the same format.
    program : Program
        As it is compiled.
    plan : Plan
    answers : Answers
        The interpreter's of `program` to the queries.
    queries : Queries
    tell : callable
        Called with a few words as each step begins.
    """
    if plan.mode != "statistical" or lowered.machine.task is Task.REGRESSION:
        return f"mode {plan.mode} makes no promise that mode certified could replace"
    reason = why_none(lowered.machine, plan)
    if reason:
        return reason

    def tell_of(text: str) -> None:
        tell(f"comparing with mode certified: {text}")

    try:
        certified = _certified(lowered, plan.in_mode_certified(), tell_of)
    except (BudgetError, InputError) as error:
        return f"mode certified: {str(error).splitlines()[0]}"
    tell_of("interpreting")
    return compared_modes(program, answers, certified, queries)


def _certified(lowered: Lowered, plan: Plan, tell: Callable[[str], None]) -> Program:
    """Return the program that mode certified makes with the same samples."""
    exact = with_tolerance(lowered.program, plan.tolerance)
    program = add_early_exits(lowered.machine, exact, plan, tell).program
    program, _ = add_asked_replay(lowered, program, plan)
    check_fits(program, workspace_bytes(program, plan.target), plan)
    return program
