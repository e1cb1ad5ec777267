"""Add the replay, a second and more precise exact sum, as the plan and the target ask for it."""

from __future__ import annotations

from kmcompile.emit.layout import workspace_bytes
from kmcompile.errors import InputError
from kmcompile.exits.candidates.room import room_for_exits
from kmcompile.lower.formats import Lowered
from kmcompile.lower.replay import add_replay
from kmcompile.model.kernel_machine import Task
from kmcompile.program.program import Program
from kmcompile.request.plan import Plan


def add_asked_replay(
    lowered: Lowered,
    program: Program,
    plan: Plan,
) -> tuple[Program, str]:
    """Return the program with the replay that the plan asks for, and a note for the report.

    On a target whose double is not a float64, mode certified adds no replay by default. A
    regression without a tolerance has no open results, so it needs no replay.

    Parameters
    ----------
    lowered : Lowered
        The machine and the exact program from which `program` was made.
    program : Program
        The program with its early exits.
    plan : Plan

    Returns
    -------
    program : Program
    note : str
        Why the replay is missing or limited; empty if it is neither.

    Raises
    ------
    InputError
        If the machine cannot have the replay that must be there.
    """
    target = plan.target
    if plan.replay == "none":
        return program, ""
    if lowered.machine.routing is not None:
        if plan.replay_required:
            raise InputError("a routed machine has no replay\nleave out --replay")
        return program, "there is no replay: a routed machine has none yet"
    if lowered.machine.reduced_from is not None:
        return program, "there is no replay: it brings a reduced machine no nearer to the trained"
    if lowered.machine.task is Task.REGRESSION and plan.tolerance is None:
        return program, ""
    if plan.replay == "where_double_is_float64" and target.double_bits != 64:
        return program, f"there is no replay: double has {target.double_bits} bits on {target.name}"
    # A replay may need any number of operations: only the flash limit of the room applies.
    flash_bytes = room_for_exits(
        program, plan.budgets, workspace_bytes(program, target), 0.0
    ).flash_bytes
    return add_replay(
        lowered.machine,
        target,
        program,
        lowered.ordinary,
        flash_bytes,
        plan.replay_required,
        lowered.coded,
    )
