"""Add the replay, a second and more precise exact sum, as the plan and the target ask for it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.exits.candidates.room import room_for_exits
from kmcompile.exits.certified.choice_samples import generated
from kmcompile.lower.formats import Lowered, certified_share
from kmcompile.lower.replay import add_replay
from kmcompile.model.kernel_machine import Task
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import prepared
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, Nonzeros
from kmcompile.program.workspace import workspace_bytes
from kmcompile.request.plan import Plan
from kmcompile.text.figures import share_text

SETTLED = 0.99
"""A replay that no option asks for is left out where the exact sum certifies so large a share."""

_EVERY = 4
"""One of so many generated inputs measures this share."""

_NEARLY_ALL = 0.9
"""A replay takes the place of an exact sum that leaves at least this share of inputs open."""


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
    # What the first model's sum settles says nothing of the models that an image will hold.
    stays = plan.replay_required or plan.in_image
    share = 0.0 if stays else _settled_share(lowered, program)
    if share >= SETTLED:
        told = f"the sum alone settles {share_text(share)} of {lowered.measured.inputs}"
        return program, f"there is no replay: {told}; --replay float64 asks for one"
    # A replay may need any number of operations: only the flash limit of the room applies.
    flash_bytes = room_for_exits(program, plan.budgets, workspace_bytes(program), 0.0).flash_bytes
    if plan.in_image:  # the C of an image holds no numbers of this model, and these are in float64
        target = replace(target, program=replace(target.program, replay="float64"))
    program, note = add_replay(
        lowered.machine,
        target,
        program,
        lowered.ordinary,
        flash_bytes,
        plan.replay_required,
        lowered.coded,
    )
    # Steps pass all places in order, and code for an image must suit other models, too.
    if plan.step is not None or plan.in_image:
        return program, note
    return _at_once(program, note, lowered.ordinary)


def _settled_share(lowered: Lowered, program: Program) -> float:
    """Return the share of inputs that the exact sum settles.

    Of a classifier without samples it is at most that of inputs between the vectors, which are more
    like queries than those that its number format was judged by.
    """
    machine, measured = lowered.machine, lowered.measured
    if machine.task is Task.REGRESSION:
        return _settled(program, lowered.ordinary) or 0.0
    share = measured.certified_share
    if share < SETTLED or measured.of_samples or machine.kernel.is_linear:
        return share
    return min(share, certified_share(lowered.program, generated(machine)[::_EVERY]))


def _at_once(program: Program, note: str, ordinary: Float32Array) -> tuple[Program, str]:
    """Return the program without the exact sum before its replay if that sum settles hardly any.

    Parameters
    ----------
    program : Program
    note : str
        The note on the replay, which is continued.
    ordinary : ndarray of shape (n, n_features), float32
        Inputs that resemble the training data.
    """
    if program.replay is None or any(stage.touches for stage in program.early_exits):
        return program, note
    settled = _settled(program, ordinary)
    if settled is None or settled > 1.0 - _NEARLY_ALL:
        return program, note
    at_once = replace(program, replay=replace(program.replay, at_once=True))
    told = "the replay takes the place of the exact sum, which leaves nearly all inputs open"
    return at_once, f"{note}; {told}" if note else told


def _settled(program: Program, X: Float32Array) -> float | None:
    """Return the share of inputs that an exact sum in float32 settles; None of any other sum."""
    if not isinstance(program.ends.exact, ExactSum) or not len(X):
        return None
    _, batch = prepared(program, X)
    for stage in program.exits:
        if isinstance(stage, Nonzeros):
            batch = stage.run(batch)
    return float(np.mean(program.ends.label.run(program.ends.exact.run(batch)).settled))
