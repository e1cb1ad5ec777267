"""All budgets that a program exceeds at once, before it is built and after."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TypeVar

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.errors import KmcompileError, OverBudgetError, ToolError
from kmcompile.leaf_budget import instructions_of
from kmcompile.program.memory import check_flash, check_instructions, check_ram, exceeded, refuse
from kmcompile.request.options import Options
from kmcompile.verify.findings import Findings

Made = TypeVar("Made")
_SEARCHES = 3
"""A second search finds a program in time, or the third for what the second one's cycles tell."""


def in_time(
    compiled: Callable[[Options], Made], options: Options, tell: Callable[[str], object]
) -> Made:
    """Return what a compilation gives; where it takes longer than `--max-time`, a quicker program.

    The worst case in cycles is known of a built program only. So the search is repeated for the
    instructions that take about as long as a query may.

    Raises
    ------
    KmcompileError
        An OverBudgetError if no program is found that is quick enough; whatever else may fail.
    """
    asked, first = options, None
    for _ in range(_SEARCHES):
        try:
            return compiled(asked)
        except OverBudgetError as late:
            first, fewer = first or late, late.instructions
            if not fewer or fewer >= (asked.max_instructions or math.inf):
                break
        asked = replace(options, max_instructions=fewer)
        tell(f"looking for a program of at most {fewer:,} instructions")
    assert first is not None
    if asked is options:
        raise first
    lines = str(first).split("\n")
    lines[0] += f", and none of at most {asked.max_instructions:,} instructions was found"
    raise OverBudgetError("\n".join(lines), first.over, first.needed, first.allowed)


def check_unbuilt(chosen: ChosenProgram, description: str) -> None:
    """Refuse a program that exceeds a budget before it is built.

    Such a program is built only for the worst case of `--max-instructions`, where that is known.

    Raises
    ------
    OverBudgetError
    """
    found = exceeded(chosen.check_fits)
    if found:
        found += exceeded(partial(_check_worst_case, chosen, description))
    refuse(found)


def check_built(chosen: ChosenProgram, findings: Findings) -> None:
    """Refuse a built program that exceeds a budget.

    Raises
    ------
    OverBudgetError
    ToolError
        If `--max-instructions` is given, the worst case is not known, and nothing is exceeded.
    """
    program, built, budgets = chosen.program, findings.memory, chosen.plan.budgets
    worst = findings.worst_case
    reason = findings.skipped.get("instructions") or (worst.reason if worst else None)
    most = None if worst is None else worst.instructions
    found: list[OverBudgetError] = []
    if built is not None:
        stack, kept = built.stack_bytes, built.ram_bytes
        found = exceeded(
            partial(check_flash, program, built.flash_bytes, False, budgets),
            partial(check_ram, program, chosen.caller_bytes, stack, budgets, kept),
        )
    if most is not None or not found:
        why = reason or "nothing was run"
        found += exceeded(partial(check_instructions, program, most, why, budgets))
    found += exceeded(partial(_check_time, chosen, findings))
    refuse(found)


def _check_time(chosen: ChosenProgram, findings: Findings) -> None:
    """Refuse a program whose static worst case in cycles takes longer than `--max-time`."""
    plan, worst = chosen.plan, findings.worst_case
    most, timing, cycles = plan.options.max_time, plan.target.time, worst and worst.cycles
    if most is None:
        return
    if not (worst and cycles and worst.instructions and timing and timing.clock_hz):
        why = (worst and worst.no_cycles) or (timing and timing.unknown) or "nothing was run"
        raise ToolError(
            f"--max-time: the worst case in cycles is not known: {why}\n"
            "give --max-instructions instead, or compile for a target whose cycles are known "
            "(kmcompile manual cycles)"
        )
    allowed = int(float(most) * timing.clock_hz)
    if cycles > allowed:
        raise OverBudgetError(
            f"{chosen.program.name}: a query may take {1e3 * cycles / timing.clock_hz:.3g} ms at "
            f"{timing.clock_hz / 1e6:g} MHz in the worst case, it may take "
            f"{1e3 * float(most):.3g} ms",
            "time",
            cycles,
            allowed,
            instructions=allowed * worst.instructions // cycles,
        )


def _check_worst_case(chosen: ChosenProgram, description: str) -> None:
    """Refuse a program whose worst case is known and too large; its step may be too small."""
    plan = chosen.plan
    runs = plan.target.emulator is not None and plan.options.verify not in ("none", "host")
    if plan.budgets.instructions is None or plan.in_image or not runs:
        return
    worst = None
    with suppress(KmcompileError):  # it cannot be built here
        worst = instructions_of(replace(chosen.program, step=None), plan, description)
    if worst is not None:
        check_instructions(chosen.program, worst, "", plan.budgets)
