"""The whole program that a plan asks for: of the trained machine, or of one with fewer vectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.choice.front import Compared
from kmcompile.choice.program import candidate, choose_program
from kmcompile.choice.rows import rows_of
from kmcompile.errors import BudgetError, FewSamplesError, InputError
from kmcompile.exits.statistical.calibrate import wished
from kmcompile.exits.statistical.control import require_kept
from kmcompile.exits.statistical.risk import samples_needed
from kmcompile.lower.format_choice import estimate_of_sum
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.program.estimate import Estimate, best
from kmcompile.reduction.choice import Reduced, lowered_sum, reduce_asked
from kmcompile.reduction.offered import OfferedSize, offer_reduced
from kmcompile.reduction.reducible import require_reducible
from kmcompile.request.asked_stages import AskedStages
from kmcompile.request.budgets import Budgets
from kmcompile.request.plan import Plan

_WHOLE, _BOTH, _FEWER = "whole", "both", "fewer"
_ASKS: Mapping[str, tuple[str, tuple[str, ...]]] = {
    _WHOLE: ("all vectors", ("--reduce off",)),
    _BOTH: ("fewer vectors", ("--reduce auto", "--mode statistical")),
    _FEWER: ("fewer vectors", ("--reduce auto", "--mode exact")),
}
"""The vectors of each program that is compared, and the options that ask for it."""

_ALLOWED = 2
"""Disagreements that the control samples must allow where fewer vectors are compared: one unusual
sample would leave nearly all vectors otherwise."""

_MOST_VECTORS = 8000
"""Vectors of a machine that is reduced unasked: the search for fewer takes minutes beyond."""

Whole = tuple[Reduced, ChosenProgram]
"""The machine whose program is emitted, and the program."""


def choose_whole(
    machine: KernelMachine, plan: Plan, most_of_leaf: int | None, tell: Callable[[str], None]
) -> Whole:
    """Return the machine whose program is emitted, and the program.

    Where a risk may be taken, three programs are compared: all vectors behind early exits, fewer
    vectors behind early exits, and fewer vectors alone. What is compared is known before the
    control samples are asked, and only what the samples say of the taken program counts. If they
    do not support it, the trained machine stands behind exits that are proved, which take no risk.

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
    offered = None
    if most_of_leaf is None and _may_be_reduced(machine, plan):
        offered = _offered(machine, plan, tell)
    if offered is None:
        return _as_asked(machine, plan, most_of_leaf, tell)
    tried: dict[str, Whole] = {}
    if plan.options.reduce is None:
        tried[_WHOLE] = Reduced(machine, plan, None), choose_program(machine, plan, tell)
    tell("trying early exits before fewer vectors")
    tried |= _behind_exits(offered, tried, tell)
    found = {key: made.takes for key, (_, made) in tried.items()}
    if plan.options.mode is None:
        found[_FEWER] = estimate_of_sum(offered.lowered, plan.target)
    if not found:  # an integer format that refuses samples has them in other parts
        return _as_asked(machine, plan, most_of_leaf, tell)
    fitting = {key: one for key, one in found.items() if _fits(one, plan.budgets)}
    least_mean = min((made.least_mean for _, made in tried.values()), default=np.inf)
    taken = best(fitting or found, plan.optimize, least_mean)

    def proved() -> Whole:
        """Return the trained machine behind exits that take no risk."""
        if not tried[_WHOLE][1].program.takes_risk:
            return tried[_WHOLE]
        sure = plan.in_mode_certified()
        return Reduced(machine, sure, None), choose_program(machine, sure, tell)

    other = proved if _WHOLE in tried else None
    if taken == _FEWER:
        reduced, made = _counted(offered, other, plan, tell)
    else:
        reduced, made = _kept(tried[taken], other)
    rows = [
        row
        for key, (_, one) in tried.items()
        for row in rows_of(one, *_ASKS[key], chosen=one is made)
    ]
    if not any(row.chosen for row in rows):  # it was made by what the control samples say
        sure = ("all vectors", ("--mode certified",))
        rows += rows_of(made, *(sure if reduced.reduction is None else _ASKS[_FEWER]))
    elif _FEWER in found:
        few, asks = _ASKS[_FEWER]
        what = f"{few}, {offered.lowered.program.number_format}"
        rows.append(Compared(what, asks, found[_FEWER], None))
    return reduced, replace(made, compared=tuple(rows))


def _as_asked(
    machine: KernelMachine, plan: Plan, most_of_leaf: int | None, tell: Callable[[str], None]
) -> Whole:
    """Return the program of the machine that `--reduce` asks for, compared with no other size."""
    asked = reduce_asked(machine, plan, tell, most_of_leaf)
    made = choose_program(asked.machine, asked.plan, tell)
    few = "all vectors" if asked.reduction is None else "fewer vectors"
    return asked, replace(made, compared=rows_of(made, few))


def _behind_exits(
    offered: OfferedSize, tried: dict[str, Whole], tell: Callable[[str], None]
) -> dict[str, Whole]:
    """Return fewer vectors behind early exits that take a risk; nothing if there are no such exits.

    The samples must be in the parts that they are in for the size: control samples of one program
    must not choose another.
    """
    reduced = offered.behind_exits()
    made = candidate(reduced.machine, reduced.plan, tell)
    wish = made.exits.wish
    if wish is None or (tried and not made.exits.before_control.early_exits):
        return {}
    same = np.array_equal(wish.parts.control.rows, offered.wish.parts.control.rows)
    return {_BOTH: (reduced, made)} if same else {}


def _kept(made: Whole, proved: Callable[[], Whole] | None) -> Whole:
    """Return a program if the control samples support it; they are not asked about another one."""
    if proved is not None and not made[1].keeps_promise:
        return proved()
    if made[1].exits.calibration is not None:
        require_kept(made[1].exits.calibration.promise)
    return made


def _counted(
    offered: OfferedSize,
    proved: Callable[[], Whole] | None,
    plan: Plan,
    tell: Callable[[str], None],
) -> Whole:
    """Return the fewest vectors that the control samples support.

    Where they support no machine as small as was compared, it is compared with exits that are
    proved.
    """
    try:
        reduced = offered.counted()
    except BudgetError:
        if proved is None:
            raise
        return proved()
    fewer = reduced, choose_program(reduced.machine, reduced.plan, tell)
    n_compared = offered.lowered.machine.n_support_vectors
    if proved is None or reduced.machine.n_support_vectors <= n_compared:
        return fewer
    both = {"fewer": fewer, "proved": proved()}
    return both[best({key: made.takes for key, (_, made) in both.items()}, plan.optimize)]


def _may_be_reduced(machine: KernelMachine, plan: Plan) -> bool:
    """Return whether a machine of fewer vectors is compared under a promise that counts it."""
    options = plan.options
    if plan.mode != "statistical" or options.reduce not in (None, "auto"):
        return False
    if plan.promise.thresholds != "risk" or plan.promise.control != "guaranteed":
        return False
    if plan.replay_required or plan.input_tolerance is not None or plan.in_image:
        return False
    if machine.task is Task.REGRESSION or machine.routing is not None:
        return False
    if options.reduce is None and (options.mode is not None or plan.stages != AskedStages()):
        return False
    try:
        require_reducible(machine, plan)
    except InputError:
        return False
    most = _MOST_VECTORS if options.reduce is None else machine.n_support_vectors
    return 1 < machine.n_support_vectors <= most


def _offered(machine: KernelMachine, plan: Plan, tell: Callable[[str], None]) -> OfferedSize | None:
    """Return the machines of fewer vectors, or None if no promise can be made of them."""
    # Every program that is compared must have its samples in the same parts: float32 accepts most.
    usual = lowered_sum(machine, replace(plan, number_format="float32"))
    try:
        found = wished(usual.machine, usual.program, plan, tell)
    except FewSamplesError:
        if plan.options.reduce is None:
            return None
        raise
    if found is None:
        return None
    wish, X = found
    needed = samples_needed(wish.risk, disagreements=_ALLOWED, of=wish.of)
    if plan.options.reduce is None and wish.parts.control.n < needed:
        return None
    try:
        return offer_reduced(machine, lowered_sum(machine, plan), wish, X, plan, tell)
    except InputError:
        if plan.options.reduce is None:
            return None
        raise


def _fits(one: Estimate, budgets: Budgets) -> bool:
    """Return whether an estimate is within the budgets of flash and instructions."""
    flash, most = budgets.flash_bytes, budgets.instructions
    return (flash is None or one.flash_bytes <= flash) and (most is None or one.worst <= most)
