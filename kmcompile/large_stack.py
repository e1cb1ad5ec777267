"""A warning on a large stack, with an option that makes it smaller if there is one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.choice.program import choose_program
from kmcompile.errors import KmcompileError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.output.trial_build import trial_build
from kmcompile.request.plan import Request
from kmcompile.text.figures import bytes_text

LARGE_BYTES = 4000
"""The stack of a usual task is 1 to 4 KB."""


def large_stack(
    stack_bytes: int | None,
    chosen: ChosenProgram,
    machine: KernelMachine,
    request: Request,
    tell: Callable[[str], None],
) -> str:
    """Return a warning if the worst-case stack on a board is large; "" otherwise.

    The option that it names is tried: its program is built, and its stack is smaller.

    Parameters
    ----------
    stack_bytes : int or None
    chosen : ChosenProgram
    machine : KernelMachine
        The machine that was compiled, before any pass.
    request : Request
        What the user asked for.
    tell : callable
        Called with a few words as the step begins.
    """
    if stack_bytes is None or stack_bytes <= LARGE_BYTES or chosen.plan.target.emulator is None:
        return ""
    text = f"a call takes up to {bytes_text(stack_bytes)} of stack"
    tell("looking for what takes so much stack")
    asked = request.given
    if chosen.program.early_exits:
        option, given = "--mode exact", replace(asked, mode="exact")
    else:
        option, given = "--replay none", replace(asked, replay="none")
    try:
        less = _stack_bytes(Request.of(Path(request.kind), given), machine, chosen)
    except KmcompileError:  # it does not go with what was asked for
        return text
    if less is None or less >= stack_bytes:
        return text
    return f"{text}; {option} makes it {bytes_text(less)}"


def _stack_bytes(request: Request, machine: KernelMachine, chosen: ChosenProgram) -> int | None:
    """Return the worst-case stack of the program that a request gives."""
    plan = request.plan(machine)
    program = choose_program(machine, plan, lambda _: None).program
    monitor = chosen.program.monitor
    if monitor is not None and monitor.in_integers == (program.codes is not None):
        program = replace(program, exits=(monitor, *program.exits))
    with trial_build(program, plan.target, plan.command, machine.description) as (artifact, _):
        return artifact.stack_bytes
