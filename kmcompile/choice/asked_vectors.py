"""The machine of as many vectors as an option asks for, compared with no other one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kmcompile.choice.fewer_vectors import (
    STEPS_BEHIND_EXITS,
    FewerVectors,
    Reduced,
    parted_samples,
)
from kmcompile.errors import FewSamplesError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.reduction.reducible import require_reducible
from kmcompile.request.plan import Plan


def as_asked(
    machine: KernelMachine,
    plan: Plan,
    tell: Callable[[str], None],
    most_of_leaf: int | None = None,
    alone: bool = False,
) -> Reduced:
    """Return the machine with as many vectors as `--reduce` asks for, compared with no other one.

    With `auto` in mode statistical these are about twice as many as the smallest good size: the
    promise of the whole program decides.

    Parameters
    ----------
    machine : KernelMachine
        The trained machine, before any pass.
    plan : Plan
    tell : callable
        Called with a few words as each step begins.
    most_of_leaf : int, optional
        Of a routed machine, the most vectors of a leaf. Without `--reduce`, only leaves that have
        more are reduced.
    alone : bool
        Whether the machine is counted without the early exits of mode statistical.

    Raises
    ------
    UsageError
        If `auto` lacks a tolerance in a regression.
    InputError
        If the machine cannot be reduced, or not to the number asked for.
    BudgetError
        If no size keeps the risk and fits the flash; the message tells the curve.
    """
    asked = None if plan.options.reduce == "off" else plan.options.reduce
    if asked is None and most_of_leaf is None:
        return Reduced(machine, plan, None)
    require_reducible(machine, plan)
    with_exits = plan.mode == "statistical" and plan.promise.thresholds == "risk" and not alone
    given = None
    if len(plan.samples) and (asked == "auto" or with_exits):
        try:
            given = parted_samples(machine, plan, tell, usual_shares=not with_exits)
        except FewSamplesError:  # for the risk, which a number of vectors does not promise
            if asked == "auto":
                raise
            with_exits = False
    if len(plan.samples) and given is None:
        supported = replace(plan, promise=replace(plan.promise, risk_is="auto"))
        try:
            given = parted_samples(machine, supported, tell, usual_shares=True)
        except FewSamplesError as error:
            raise FewSamplesError(f"{error}, or leave out --data") from error
        given = replace(given, notes=())  # on a risk that is not promised
    offered = FewerVectors(machine, plan, given, tell, most_of_leaf)
    if asked == "auto":
        if with_exits:
            return offered.behind_exits(STEPS_BEHIND_EXITS[-1])
        return offered.counted("exact" if alone else plan.mode)
    n = machine.n_support_vectors
    if most_of_leaf is None and int(asked or n) >= n:
        return offered.trained_itself()
    return offered.exactly(int(asked or n), with_exits)
