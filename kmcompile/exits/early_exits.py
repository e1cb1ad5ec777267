"""The early exits of an exact program, as the plan asks for them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from threadpoolctl import threadpool_limits

from kmcompile.emit.layout import workspace_bytes
from kmcompile.exits.candidates.room import room_for_exits
from kmcompile.exits.certified.certify import WORST_SHARE as CERTIFIED_SHARE
from kmcompile.exits.certified.certify import Choice, add_certified_exits
from kmcompile.exits.pairwise import offer_pairs
from kmcompile.exits.statistical.calibrate import calibrate
from kmcompile.exits.statistical.calibration import Calibration, Promise
from kmcompile.exits.statistical.chooser import WORST_SHARE as STATISTICAL_SHARE
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.program import Program
from kmcompile.request.plan import Plan


@dataclass(frozen=True, slots=True, eq=False)
class WithExits:
    """A program with its early exits, and how they were made.

    Parameters
    ----------
    program : Program
    calibration : Calibration or None
        Of mode statistical.
    choice : Choice or None
        Of mode certified.
    held_out, calibrated_with : ndarray of shape (n, n_features), float32, or None
        As of `Calibrated`.
    """

    program: Program
    calibration: Calibration | None = None
    choice: Choice | None = None
    held_out: Float32Array | None = None
    calibrated_with: Float32Array | None = None

    @property
    def promise(self) -> Promise | None:
        """What is promised of the statistical exits, where there are any."""
        if self.calibration is None or not self.program.early_exits:
            return None
        return self.calibration.promise

    @property
    def speedup(self) -> float:
        """Operations of the exact sum over those with the exits, on the samples that chose them.

        Control samples take no part, not even by what they leave of the exits, so that to choose
        among programs by it is to choose before their risk is controlled.
        """
        made = self.calibration or self.choice
        if made is None:
            return 1.0
        taken = [c.mean_operations for c in made.candidates if c.chosen]
        alone = [c.mean_operations for c in made.candidates if c.stages == ("exact_sum",)]
        return alone[0] / taken[0] if taken and alone else 1.0


def why_none(machine: KernelMachine, plan: Plan) -> str:
    """Return why a machine has no early exits in any mode, or nothing where it may have some."""
    if machine.task is Task.REGRESSION and plan.tolerance is None:
        return "there is no early exit: without --tolerance every value is the exact sum"
    unused = f"mode {plan.mode} is not used"
    reason = machine.kernel.no_early_exits
    return f"{unused}: {reason}" if reason else ""


def add_early_exits(
    machine: KernelMachine,
    program: Program,
    plan: Plan,
    tell: Callable[[str], None],
) -> WithExits:
    """Return the program with early exits where the mode has them and they pay.

    Parameters
    ----------
    machine : KernelMachine
        After the passes.
    program : Program
        The exact one.
    plan : Plan
    tell : callable
        Called with a few words as each step begins.
    """
    if plan.mode == "exact" or why_none(machine, plan):
        return WithExits(program)
    scratch_bytes = workspace_bytes(program, plan.target)
    offer = partial(offer_pairs, machine, program, plan.target, plan.budgets)
    if plan.mode == "statistical":
        room = room_for_exits(program, plan.budgets, scratch_bytes, STATISTICAL_SHARE)
        with threadpool_limits(1):  # what a matrix product rounds depends on the threads
            made = calibrate(machine, program, plan, room, tell, offer)
        return WithExits(made.program, made.calibration, None, made.held_out, made.given)
    room = room_for_exits(program, plan.budgets, scratch_bytes, CERTIFIED_SHARE)
    given = plan.samples if len(plan.samples) else None
    map_bytes = room.flash_bytes if plan.flash_is_given else None
    program, choice = add_certified_exits(machine, program, given, room, tell, map_bytes, offer)
    return WithExits(program, None, choice)
