"""The whole program that a plan asks for: of the trained machine, or of one with fewer vectors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kmcompile.errors import BudgetError, InputError
from kmcompile.exits.chosen_program import ChosenProgram, choose_program
from kmcompile.exits.statistical.risk import samples_needed
from kmcompile.lower.format_choice import estimate_of_sum
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.program.estimate import Estimate, best
from kmcompile.reduction.choice import OfferedSize, Reduced, offer_reduced, reduce_asked
from kmcompile.reduction.reducible import require_reducible
from kmcompile.request.asked_stages import AskedStages
from kmcompile.request.budgets import Budgets
from kmcompile.request.plan import Plan
from kmcompile.text.figures import bytes_text, count_text, counted

_FEWER = "fewer vectors (--reduce auto --mode exact)"

_ALLOWED = 2
"""Disagreements that the control samples must allow where fewer vectors are compared: one unusual
sample would leave nearly all vectors otherwise."""

_MOST_VECTORS = 8000
"""Vectors of a machine that is reduced unasked: the search for fewer takes minutes beyond."""


def choose_whole(
    machine: KernelMachine, plan: Plan, most_of_leaf: int | None, tell: Callable[[str], None]
) -> tuple[Reduced, ChosenProgram]:
    """Return the machine whose program is emitted, and the program.

    Where a risk may be taken, a machine of fewer vectors without early exits is compared with the
    trained machine and its exits. What is compared is known before the control samples are asked,
    and only the program that is taken asks them. If they keep a larger machine than was compared,
    or none, it is compared with the trained one behind exits that are proved: they take no risk.

    Parameters
    ----------
    machine : KernelMachine
        The trained machine, before any pass.
    plan : Plan
    most_of_leaf : int or None
        Of a routed machine, the most vectors of a leaf.
    tell : callable
        Called with a few words as each step begins.

    Raises
    ------
    InputError, UsageError, BudgetError
        If no program satisfies the plan.
    """
    asked = reduce_asked(machine, plan, tell, most_of_leaf)
    whole = choose_program(asked.machine, asked.plan, tell)
    if most_of_leaf is not None or not _may_be_reduced(machine, plan):
        return asked, whole
    tell("comparing with fewer vectors")
    offered = _offered(machine, plan, whole, tell)
    if offered is None:
        return asked, whole
    takes = {"whole": whole.takes, "fewer": estimate_of_sum(offered.lowered, plan.target)}
    fitting = {key: one for key, one in takes.items() if _fits(one, plan.budgets)}
    if best(fitting or takes, plan.optimize, whole.least_mean) == "whole":
        return asked, _told(whole, _FEWER, takes["fewer"])
    try:
        reduced = offered.counted()
    except BudgetError:
        reduced = None
    n_compared = offered.lowered.machine.n_support_vectors
    if reduced is not None and reduced.machine.n_support_vectors <= n_compared:
        fewer = choose_program(reduced.machine, reduced.plan, tell)
        return reduced, _told(fewer, "all vectors (--reduce off)", takes["whole"])
    proved = _proved(machine, plan, asked, whole, tell)
    if reduced is None:
        return proved
    fewer = choose_program(reduced.machine, reduced.plan, tell)
    both = {"fewer": fewer.takes, "proved": proved[1].takes}
    if best(both, plan.optimize) == "proved":
        return proved[0], _told(proved[1], _FEWER, both["fewer"])
    return reduced, _told(fewer, "all vectors (--mode certified)", both["proved"])


def _proved(
    machine: KernelMachine,
    plan: Plan,
    asked: Reduced,
    whole: ChosenProgram,
    tell: Callable[[str], None],
) -> tuple[Reduced, ChosenProgram]:
    """Return the trained machine with exits that take no risk."""
    if not whole.program.takes_risk:
        return asked, whole
    proved = plan.in_mode_certified()
    return Reduced(machine, proved, None), choose_program(machine, proved, tell)


def _may_be_reduced(machine: KernelMachine, plan: Plan) -> bool:
    """Return whether fewer vectors may take the place of a machine that no option reduces."""
    options = plan.options
    if options.reduce is not None or plan.mode != "statistical" or options.mode is not None:
        return False
    if plan.promise.thresholds != "risk" or plan.promise.control != "guaranteed":
        return False
    if plan.stages != AskedStages() or plan.replay_required or plan.input_tolerance is not None:
        return False
    if machine.task is Task.REGRESSION or machine.routing is not None or plan.in_image:
        return False
    try:
        require_reducible(machine, plan)
    except InputError:
        return False
    return 1 < machine.n_support_vectors <= _MOST_VECTORS


def _offered(
    machine: KernelMachine, plan: Plan, whole: ChosenProgram, tell: Callable[[str], None]
) -> OfferedSize | None:
    """Return the reduced machine to compare, or None if no promise can be made of it."""
    judged = whole.judged
    if judged is None or judged.calibration is None or judged.calibration.promise.control == "none":
        return None
    wish = judged.wish
    if wish is None or judged.calibrated_with is None:
        return None
    if wish.parts.control.n < samples_needed(wish.risk, disagreements=_ALLOWED, of=wish.of):
        return None
    try:
        return offer_reduced(machine, whole.lowered, wish, judged.calibrated_with, plan, tell)
    except InputError:
        return None


def _fits(one: Estimate, budgets: Budgets) -> bool:
    """Return whether an estimate is within the budgets of flash and instructions."""
    flash, most = budgets.flash_bytes, budgets.instructions
    return (flash is None or one.flash_bytes <= flash) and (most is None or one.worst <= most)


def _told(chosen: ChosenProgram, what: str, other: Estimate) -> ChosenProgram:
    """Return the program with a note on the one that was not taken."""
    instructions = counted(round(other.mean), "instruction", "instructions")
    text = (
        f"{what}: about {instructions} in the mean, {count_text(round(other.worst))} in the worst "
        f"case, {bytes_text(round(other.flash_bytes))}"
    )
    return replace(chosen, compared=text)
