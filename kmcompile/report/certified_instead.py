"""A program of mode certified, made for comparison with a program of mode statistical.

The statistical program does not depend on this comparison: no choice and no promise rests on it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from kmcompile.choice.chosen import ChosenProgram
from kmcompile.choice.program import complete
from kmcompile.errors import BudgetError, InputError
from kmcompile.exits.certified.offers import Offer
from kmcompile.exits.early_exits import why_none
from kmcompile.model.kernel_machine import Task
from kmcompile.program.interpreter import Answers
from kmcompile.report.missing import Missing
from kmcompile.report.modes import Modes, compared_modes
from kmcompile.verify.queries import Queries


def modes_compared(
    chosen: ChosenProgram, answers: Answers, queries: Queries, tell: Callable[[str], None]
) -> Modes | Missing:
    """Return the comparison of a statistical program with mode certified, or why there is none.

    Parameters
    ----------
    chosen : ChosenProgram
        The statistical program. Mode certified gets its number format and its samples, and chooses
        from the certified exits that were searched for it.
    answers : Answers
        The interpreter's answers of the statistical program to the queries.
    queries : Queries
    tell : callable
        Called with a few words as each step begins.
    """
    plan, lowered = chosen.plan, chosen.lowered
    if plan.mode != "statistical" or lowered.machine.task is Task.REGRESSION:
        return Missing(f"mode {plan.mode} makes no promise that mode certified could replace")
    reason = why_none(lowered.machine, plan, lowered.program)
    if reason:
        return Missing(reason)

    def tell_of(text: str) -> None:
        tell(f"comparing with mode certified: {text}")

    try:
        certified = complete(lowered, plan.in_mode_certified(), tell_of, _known(chosen))
        certified.check_fits()
    except (BudgetError, InputError) as error:
        return Missing(f"mode certified: {str(error).splitlines()[0]}")
    tell_of("interpreting")
    other = certified.program
    if chosen.program.monitor is not None:
        other = replace(other, exits=(chosen.program.monitor, *other.exits))
    return compared_modes(chosen.program, answers, other, queries)


def _known(chosen: ChosenProgram) -> tuple[Offer, ...] | None:
    """Return the certified exits that mode certified would find, too; None if it must search."""
    calibration, stages = chosen.exits.calibration, chosen.plan.stages
    if calibration is None or calibration.thresholds != "risk":
        return None
    if stages.needed or stages.listed is not None:
        return None  # the search was for these alone, or with other limits
    return calibration.offered
