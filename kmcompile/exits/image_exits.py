"""Early exits of a program whose model lies in an image: their shape is the code's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from kmcompile.errors import InputError, UsageError
from kmcompile.exits.asked import check_names
from kmcompile.exits.candidates.room import Room, room_for_exits
from kmcompile.exits.certified.certify import WORST_SHARE, add_certified_exits, fit
from kmcompile.exits.certified.choice_samples import choice_samples
from kmcompile.exits.certified.fits import certified_fits
from kmcompile.exits.early_exits import WithExits, why_none
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.program import Program
from kmcompile.program.stages import LocalExpansion
from kmcompile.program.wanted import wanted_of
from kmcompile.program.workspace import workspace_bytes
from kmcompile.request.asked_stages import AskedStages
from kmcompile.request.plan import Plan

HELD = (LocalExpansion.template,)
"""The early exits that an image can hold: their sizes are the code's, their tables the model's."""


@dataclass(frozen=True, slots=True)
class _SameRoom(Room):
    """The room of exits that have the shape of a given one."""

    most_bytes: float = 0.0

    def table_bytes_of(self, program: Program) -> float:
        """Return the bytes of that exit's tables, whatever the program has."""
        return self.most_bytes


def add_image_exits(
    machine: KernelMachine, program: Program, plan: Plan, tell: Callable[[str], None]
) -> WithExits:
    """Return the program with the early exits of an image that save operations.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes.
    program : Program
        The exact program, without early exits.
    plan : Plan
    tell : callable

    Raises
    ------
    UsageError
        If another exit is asked for.
    InputError
        If an exit that must be there cannot be built.
    """
    if plan.mode == "exact":
        return WithExits(program)
    check_names(plan.stages, plan.mode)
    others = [name for name in plan.stages.needed if name not in HELD]
    if others:
        raise UsageError(
            f"--tables image is not built yet for {others[0]}\nthere is {', '.join(HELD)}"
        )
    reason = why_none(machine, plan, program)
    if reason and plan.stages.needed:
        raise InputError(f"{plan.stages.needed[0]} cannot be built for this machine: {reason}")
    if reason:
        return WithExits(replace(program, mode=plan.mode))
    scratch_bytes = workspace_bytes(program)
    stages = _only_held(plan.stages)
    room = room_for_exits(program, plan.budgets, scratch_bytes, WORST_SHARE, stages)
    room = room.on(plan.target, program).of(wanted_of(plan), program)
    given = plan.samples if len(plan.samples) else None
    chosen, choice = add_certified_exits(machine, program, given, room, tell)
    return WithExits(chosen, None, choice)


def with_exits_like(
    machine: KernelMachine,
    program: Program,
    like: Program,
    given: Float32Array,
    tell: Callable[[str], None],
) -> Program:
    """Return the program with early exits of the same shapes as another program's.

    Parameters
    ----------
    machine : KernelMachine
    program : Program
        The exact program, without early exits.
    like : Program
        The program of code that flies.
    given : ndarray of shape (n, n_features), float32
        Samples to which exits are fitted; without any, points made from the vectors.
    tell : callable

    Raises
    ------
    InputError
        If the machine has no exit of such a shape.
    """
    program = replace(program, mode=like.mode)
    if not like.exits:
        return program
    (wanted,) = like.exits
    assert isinstance(wanted, LocalExpansion)
    samples = choice_samples(machine, program, given if len(given) else None)
    n_bytes = sum(table.n_bytes for table in wanted.tables())
    stages = _only_held(AskedStages(required=HELD))
    room = _SameRoom(np.inf, None, None, stages=stages, most_bytes=n_bytes)
    tell("fitting early exits")
    found = [
        stage
        for stage, _ in fit(machine, program, samples.taught, room)
        if isinstance(stage, LocalExpansion) and _shape(stage) == _shape(wanted)
    ]
    if not found:
        raise InputError(
            "local_expansion: the model has none of the shape that is in the code\n"
            "compile the model anew, and fly its code"
        )
    batch = program.prepare.run(Batch.of(samples.judged, program.n_decisions))
    decided = [stage.decide(batch, program.ends)[1].mean() for stage in found]
    return replace(program, exits=(found[int(np.argmax(decided))],))


def _only_held(asked: AskedStages) -> AskedStages:
    """Return the request without the exits that no image holds."""
    names = [made.kind.template for made in certified_fits()]
    others = tuple(name for name in names if name not in HELD)
    return replace(asked, excluded=(*asked.excluded, *others))


def _shape(stage: LocalExpansion) -> tuple[object, ...]:
    """Return all sizes of a stage."""
    return (tuple(stage.branches.tolist()), stage.n_rows, stage.n_basis, stage.centres.shape)
