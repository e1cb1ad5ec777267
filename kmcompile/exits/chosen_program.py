"""The program that a plan asks for: its exact sum, its early exits and its replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kmcompile.emit.layout import workspace_bytes
from kmcompile.exits.asked_replay import add_asked_replay
from kmcompile.exits.certified.offers import Offer
from kmcompile.exits.early_exits import WithExits, add_early_exits
from kmcompile.lower.format_choice import FormatCandidate, choose_format
from kmcompile.lower.formats import Lowered, lower_in_format
from kmcompile.lower.program import with_tolerance
from kmcompile.lower.reduced import with_distance
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.program.memory import check_fits
from kmcompile.program.program import Program
from kmcompile.request.plan import Plan


@dataclass(frozen=True, slots=True, eq=False)
class ChosenProgram:
    """The program that will be emitted, with the record of how it was chosen.

    Parameters
    ----------
    program : Program
    plan : Plan
    lowered : Lowered
        The machine after the passes and the exact program that it was lowered to.
    exits : WithExits
        The early exits and how they were fitted.
    formats : tuple of FormatCandidate
        The number formats that `--format auto` compared.
    replay_note : str
        Why the program has no replay although one was asked for; otherwise empty.
    """

    program: Program
    plan: Plan
    lowered: Lowered
    exits: WithExits
    formats: tuple[FormatCandidate, ...] = ()
    replay_note: str = ""

    @property
    def workspace_bytes(self) -> int:
        """Bytes of RAM that the caller must provide as the workspace of the emitted functions."""
        return workspace_bytes(self.program, self.plan.target)

    def check_fits(self) -> None:
        """Raise an error if the tables or the workspace alone exceed the plan's budgets.

        Raises
        ------
        BudgetError
            If the flash of the tables or the RAM of the workspace exceeds its budget.
        """
        check_fits(self.program, self.workspace_bytes, self.plan)


def choose_program(
    machine: KernelMachine, plan: Plan, tell: Callable[[str], None]
) -> ChosenProgram:
    """Return the program that a plan asks for, whether or not it fits the budgets.

    Parameters
    ----------
    machine : KernelMachine
        The machine as it was trained, before any pass.
    plan : Plan
    tell : callable
        Called with a few words as each step begins.

    Raises
    ------
    InputError
        If no program satisfies the plan.
    """
    target, name = plan.target, plan.name
    if plan.number_format != "auto":
        lowered = lower_in_format(machine, target, name, plan.number_format, plan.format_samples)
        return complete(lowered, plan, tell)
    made: dict[str, WithExits] = {}

    def speedup(lowered: Lowered) -> float:
        exits = made[lowered.program.number_format] = _with_exits(lowered, plan, tell)
        return exits.speedup

    flash_bytes = plan.budgets.flash_bytes
    lowered, compared = choose_format(
        machine, target, name, flash_bytes, plan.format_samples, speedup
    )
    exits = made.get(lowered.program.number_format) or _with_exits(lowered, plan, tell)
    return _with_replay(lowered, exits, plan, compared)


def complete(
    lowered: Lowered,
    plan: Plan,
    tell: Callable[[str], None],
    offered: Sequence[Offer] | None = None,
) -> ChosenProgram:
    """Return the exact program extended by the early exits and the replay that a plan asks for.

    Parameters
    ----------
    lowered : Lowered
    plan : Plan
    tell : callable
        Called with a few words as each step begins.
    offered : sequence of Offer, optional
        Certified exits of this exact program that mode certified chooses from; by default it
        searches for them.
    """
    return _with_replay(lowered, _with_exits(lowered, plan, tell, offered), plan)


def _with_exits(
    lowered: Lowered,
    plan: Plan,
    tell: Callable[[str], None],
    offered: Sequence[Offer] | None = None,
) -> WithExits:
    exact = with_tolerance(lowered.program, plan.tolerance)
    return add_early_exits(lowered.machine, exact, plan, tell, lowered.coded, offered)


def _with_replay(
    lowered: Lowered,
    exits: WithExits,
    plan: Plan,
    compared: tuple[FormatCandidate, ...] = (),
) -> ChosenProgram:
    program, note = add_asked_replay(lowered, exits.program, plan)
    program = with_distance(program, lowered.machine)
    return ChosenProgram(program, plan, lowered, exits, compared, note)
