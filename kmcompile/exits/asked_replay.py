"""The replay of a program, as the options and the target have it."""

from __future__ import annotations

from kmcompile.emit.emitter import workspace_bytes
from kmcompile.exits.candidates.room import room_for_exits
from kmcompile.lower.formats import Lowered
from kmcompile.lower.replay import add_replay
from kmcompile.model.kernel_machine import Task
from kmcompile.program.program import Program
from kmcompile.request.budgets import Budgets
from kmcompile.request.options import Options
from kmcompile.target import Target


def add_asked_replay(
    lowered: Lowered,
    program: Program,
    target: Target,
    options: Options,
    allowed: Budgets,
    required: bool,
) -> tuple[Program, str]:
    """Return the program with the replay that the options ask for, and what to know of it.

    Where the target's double is no float64, mode certified has none by default. A regression
    without tolerance leaves nothing open.

    Parameters
    ----------
    lowered : Lowered
        What the program was made from.
    program : Program
        With its early exits.
    target : Target
    options : Options
    allowed : Budgets
    required : bool
        Whether one that does not fit is an error.

    Returns
    -------
    program : Program
    note : str
        Empty where there is nothing to know.
    """
    if options.replay_asked != "float64":
        return program, ""
    if lowered.machine.task is Task.REGRESSION and options.tolerance is None:
        return program, ""
    if options.replay is None and target.double_bits != 64:
        return program, f"there is no replay: double has {target.double_bits} bits on {target.name}"
    # A replay may take what operations it needs: only the flash of the room counts.
    flash_bytes = room_for_exits(
        program, allowed, workspace_bytes(program, target), 0.0
    ).flash_bytes
    return add_replay(
        lowered.machine, target, program, lowered.ordinary, flash_bytes, required, lowered.coded
    )
