"""Which programs are compared by control samples, and what each may take of the doubt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from kmcompile.choice.fewer_vectors import FewerVectors, parted_samples
from kmcompile.errors import InputError
from kmcompile.exits.statistical.binomial import confidence_at
from kmcompile.exits.statistical.parted import Parted
from kmcompile.exits.statistical.risk import samples_needed
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.request.plan import Plan

WHOLE, BOTH, TWICE, FEWER = "whole", "both", "twice", "fewer"
"""All vectors behind early exits, the fewest vectors behind exits, twice as many, and the fewest
alone."""

_DOUBT_ALONE = 0.5
"""Share of the doubt of fewer vectors alone, for which every disagreement that is allowed counts.
The programs with exits have equal shares of the rest."""

_ALLOWED = 1
"""Disagreements that the control samples must allow where all programs are compared. One unusual
sample would leave nearly all vectors otherwise; of fewer samples only two programs are asked."""


@dataclass(frozen=True, slots=True, eq=False)
class Comparison:
    """The programs that are compared by control samples, of which one is taken.

    Parameters
    ----------
    keys : tuple of str
        The programs.
    plan : Plan
        The plan of those with early exits, with their doubt.
    offered : FewerVectors
    doubt_alone : float
        The doubt of fewer vectors without exits.
    """

    keys: tuple[str, ...]
    plan: Plan
    offered: FewerVectors
    doubt_alone: float


def comparison(
    machine: KernelMachine, plan: Plan, tell: Callable[[str], None]
) -> Comparison | None:
    """Return what is compared; None if no promise can be made of fewer vectors, and none is asked.

    Raises
    ------
    InputError
        If fewer vectors are asked for, and no promise can be made of them.
    """
    try:
        given = parted_samples(machine, plan, tell)
        keys = _keys(plan, given)
        if not keys:
            return None
        of_exits, alone = _doubts(keys)
        plan = replace(plan, promise=replace(plan.promise, doubt=of_exits))
        offered = FewerVectors(machine, plan, given, tell)
        return Comparison(keys, offered.plan, offered, alone)
    except InputError:
        if plan.options.reduce is not None:
            raise
        return None


def _keys(plan: Plan, given: Parted) -> tuple[str, ...]:
    """Return the programs to compare: as many as the control samples are enough for."""
    asked = plan.options.reduce is not None
    control, of = plan.promise.control, plan.promise.what

    def is_enough(keys: tuple[str, ...], allowed: int) -> bool:
        each = confidence_at(min(_doubts(keys)))
        return given.parts.control.n >= samples_needed(given.risk, control, allowed, of, each)

    if plan.options.mode == "statistical" or plan.stages.needed:
        return (BOTH, TWICE) if is_enough((BOTH, TWICE), 0) else (TWICE,)
    keys = (BOTH, TWICE, FEWER) if asked else (WHOLE, BOTH, TWICE, FEWER)
    if is_enough(keys, _ALLOWED):
        return keys
    if asked:
        return (FEWER,)
    return (WHOLE, FEWER) if is_enough((WHOLE, FEWER), 0) else ()


def _doubts(keys: tuple[str, ...]) -> tuple[float, float]:
    """Return the doubt of each program with exits, and that of fewer vectors alone."""
    if FEWER not in keys:
        return 1 / len(keys), 1.0
    if len(keys) == 1:
        return 1.0, 1.0
    return (1 - _DOUBT_ALONE) / (len(keys) - 1), _DOUBT_ALONE
