"""The program that a plan asks for: its exact sum, its early exits and its replay."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeGuard

import numpy as np

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.choice.formats import Tried, choose_format
from kmcompile.choice.other_modes import other_modes
from kmcompile.choice.unpaid import unpaid_kinds
from kmcompile.emit.images.parts import check_supported
from kmcompile.errors import BudgetError, FewSamplesError, UsageError
from kmcompile.exits.asked_replay import add_asked_replay
from kmcompile.exits.candidates.samples import LEAST_TO_CHOOSE, accepted_rows
from kmcompile.exits.certified.offers import Offer
from kmcompile.exits.early_exits import WithExits, add_early_exits
from kmcompile.exits.image_exits import add_image_exits, with_exits_like
from kmcompile.exits.statistical.calibration import Calibration
from kmcompile.exits.statistical.chooser import WORTH_A_RISK
from kmcompile.exits.statistical.pairs import mean_costs
from kmcompile.lower.formats import Lowered, lower_in_format
from kmcompile.lower.image_formats import lower_for_image
from kmcompile.lower.input_tolerance import with_input_tolerance
from kmcompile.lower.known_answers import most_known_answers
from kmcompile.lower.linear_codes import why_floats
from kmcompile.lower.program import with_tolerance
from kmcompile.lower.reduced import with_distance
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.capacity import Capacity
from kmcompile.program.estimate import CODE_BYTES, with_mean
from kmcompile.program.program import Program
from kmcompile.program.schedule import weighted_step
from kmcompile.program.wanted import wanted_of
from kmcompile.request.plan import Plan

_MOST_COMPARED, _SEED = 1000, 20031210
"""Most samples by which programs are compared."""


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
    chosen = candidate(machine, plan, tell)
    chosen.require_kept()
    return chosen


def candidate(machine: KernelMachine, plan: Plan, tell: Callable[[str], None]) -> ChosenProgram:
    """Return the program of `choose_program`, whether or not its promise is kept."""
    chosen = _chosen(machine, with_tables_once(plan), tell)
    return replace(chosen, plan=replace(chosen.plan, budgets=plan.budgets))


def with_tables_once(plan: Plan) -> Plan:
    """Return the plan with the flash for one copy of the tables, beside the code, as the budget."""
    flash = plan.budgets.flash_bytes
    if flash is None or plan.options.copies == 1:
        return plan
    code = min(CODE_BYTES, flash)
    once = code + (flash - code) // plan.options.copies
    return replace(plan, budgets=replace(plan.budgets, flash_bytes=once))


def _chosen(machine: KernelMachine, plan: Plan, tell: Callable[[str], None]) -> ChosenProgram:
    """Return the program that a plan asks for, with one copy of its tables in the flash budget."""
    target, name = plan.target, plan.name
    if plan.in_image:
        return for_image(machine, plan, tell)
    # No promise rests on samples where no exit does, and they tell how large inputs are.
    is_linear = machine.kernel.is_linear and len(plan.samples) > 0
    samples = plan.samples if is_linear else plan.format_samples
    if plan.number_format != "auto":
        lowered = lower_in_format(machine, target, name, plan.number_format, samples)
        return complete(lowered, plan, tell)
    made: dict[str, ChosenProgram] = {}

    def with_exits(lowered: Lowered) -> Tried:
        tell(f"trying {lowered.program.number_format}")
        search = plan
        if made and not plan.stages.needed:
            unpaid = unpaid_kinds(next(iter(made.values())))
            search = replace(plan, stages=replace(plan.stages, unpaid=unpaid))
        one = made[lowered.program.number_format] = complete(lowered, search, tell)
        return Tried(one.exits.speedup, one.takes)

    flash_bytes = plan.budgets.flash_bytes
    lowered, compared = choose_format(
        machine,
        target,
        name,
        flash_bytes,
        samples,
        with_exits,
        wanted_of(plan),
        why_floats(machine, target, plan.replay_required),
    )
    chosen = made.get(lowered.program.number_format) or complete(lowered, plan, tell)
    return replace(chosen, formats=compared)


def for_image(
    machine: KernelMachine,
    plan: Plan,
    tell: Callable[[str], None],
    like: Program | None = None,
) -> ChosenProgram:
    """Return the program of a machine that lies in an image, with its early exits and its replay.

    Parameters
    ----------
    machine : KernelMachine
        The machine as it was trained.
    plan : Plan
    tell : callable
        Called with a few words as each step begins.
    like : Program, optional
        The program of code that flies already: its exits and its capacity are taken. By default
        exits are chosen, and the capacity is the plan's.

    Raises
    ------
    InputError
        If no image holds the machine.
    """
    if plan.target.tables_apart:
        raise UsageError(
            f"--tables image is not built yet for {plan.target.name}: its tables lie in the memory "
            "of the program\nleave out --tables image"
        )
    summed = None if like is None else like.sum
    lowered = lower_for_image(machine, plan.target, plan.name, plan.number_format, summed)
    exact = with_tolerance(lowered.program, plan.tolerance)
    if like is None:
        exits = add_image_exits(lowered.machine, exact, plan, tell)
    else:
        exits = WithExits(with_exits_like(lowered.machine, exact, like, plan.samples, tell))
    program, note = add_asked_replay(lowered, exits.program, plan)
    capacity = None if like is None else like.capacity
    if capacity is None:
        capacity = Capacity.of(program.sum, plan.options.capacity, most_known_answers(program))
        exceeded = capacity.exceeded_by(program.sum, len(program.known_answers))
        if exceeded is not None:
            what, found, _ = exceeded
            raise BudgetError(
                f"--capacity {plan.options.capacity}: the model has {found} {what}\n"
                f"use --capacity {found} or leave out --capacity"
            )
    program = replace(program, capacity=capacity, telemetry=plan.options.telemetry)
    check_supported(program)
    return ChosenProgram(program, plan, lowered, exits, exits, replay_note=note)


def complete(
    lowered: Lowered,
    plan: Plan,
    tell: Callable[[str], None],
    offered: Sequence[Offer] | None = None,
) -> ChosenProgram:
    """Return the exact program extended by the early exits and the replay that a plan asks for.

    Where no option asks for a mode and the samples are too few for it, or the exits of mode
    statistical do not pay beside those that are proved, the exits are those of mode certified,
    chosen by the samples if these are enough.

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
    exact = with_tolerance(lowered.program, plan.tolerance)
    exact = with_input_tolerance(exact, lowered.machine, plan.input_tolerance)
    few = ""
    try:
        exits = add_early_exits(lowered.machine, exact, plan, tell, lowered.coded, offered)
    except FewSamplesError as error:
        n_usable = int(accepted_rows(exact.prepare, plan.samples).sum())
        if not plan.mode_is_default or plan.stages.needed:
            raise FewSamplesError(f"{error}{other_modes(plan, n_usable)}") from error
        text = str(error).splitlines()[0]
        few = f"{'mode certified' if plan.mode == 'statistical' else 'as without samples'}: {text}"
        plan = _certified(plan, n_usable)
        exits = add_early_exits(lowered.machine, exact, plan, tell, lowered.coded)
    judged = exits
    if _may_be_proved(exits.calibration, plan, lowered.machine):
        certified = _certified(plan, len(plan.samples))
        known = exits.calibration.offered
        proved = add_early_exits(lowered.machine, exact, certified, tell, lowered.coded, known)
        judged = exits if _pays(exits.before_control, exits, proved, plan) else proved
        if judged is proved or not _pays(exits.program, exits, proved, plan):
            few = "mode certified: statistical exits pay no more here than those that are proved"
            exits, plan = proved, certified
    if few and exits.choice is not None:
        choice = replace(exits.choice, notes=(few, *exits.choice.notes))
        exits = replace(exits, choice=choice)
    program, note = add_asked_replay(lowered, exits.program, plan)
    program = with_distance(program, lowered.machine)
    program = replace(program, telemetry=plan.options.telemetry, redundancy=plan.options.copies)
    if plan.step is not None:
        program = replace(program, step=weighted_step(program, plan.target, plan.step))
    return ChosenProgram(program, plan, lowered, exits, judged, replay_note=note)


def _may_be_proved(
    calibration: Calibration | None, plan: Plan, machine: KernelMachine
) -> TypeGuard[Calibration]:
    """Return whether mode certified may take the place of a mode that no option asks for."""
    if calibration is None or calibration.thresholds != "risk" or machine.reduced_from is not None:
        return False
    return plan.mode_is_default and plan.stages.are_free


def _pays(program: Program, exits: WithExits, proved: WithExits, plan: Plan) -> bool:
    """Return whether statistical exits are worth their risk beside the exits that are proved.

    Parameters
    ----------
    program : Program
        With the statistical exits before or after their risk was controlled. The samples that
        choose exits say what it takes, so that no promise rests on them.
    exits, proved : WithExits
    plan : Plan
    """
    assert exits.calibrated_with is not None and exits.wish is not None
    X, cost = some_of(exits.calibrated_with[exits.wish.parts.choice]), plan.target.cost
    worth = WORTH_A_RISK if program.takes_risk else 1.0
    taken, other = (
        with_mean(one, mean_costs(one, X, cost)[1] / share, 0.0, cost)
        for one, share in ((program, worth), (proved.program, 1.0))
    )
    return wanted_of(plan).best({"proved": other, "statistical": taken}) == "statistical"


def some_of(held: Float32Array) -> Float32Array:
    """Return some samples, by which programs are compared."""
    order = np.random.default_rng(_SEED).permutation(len(held))  # a file may be sorted
    return np.ascontiguousarray(held[np.sort(order[:_MOST_COMPARED])])


def _certified(plan: Plan, n_usable: int) -> Plan:
    """Return the plan in mode certified, with the samples if enough are usable to choose exits.

    What the user asks for holds: exits that must not be there, and a replay that must.
    """
    certified = replace(
        plan.in_mode_certified(), replay_required=plan.replay_required, stages=plan.stages
    )
    if n_usable < LEAST_TO_CHOOSE:
        return replace(certified, samples=plan.samples[:0])
    return certified
