"""Which larger risks would give which gain, where the promised risk gives none."""

from __future__ import annotations

from dataclasses import replace

from kmcompile.errors import InputError
from kmcompile.exits.statistical.case import Case
from kmcompile.exits.statistical.chooser import Offered, allowed_disagreements, choose
from kmcompile.exits.statistical.control import controlled
from kmcompile.exits.statistical.judge import Judge
from kmcompile.text.figures import ratio_text

_FACTORS, _LARGEST = (3.0, 10.0, 30.0), 0.05
"""Multiples of the promised risk that are tried, and the largest risk that is."""

_WORTH_TELLING = 0.8
"""A risk is told if it needs less than this share of the instructions of the next smaller one."""


def other_risks(case: Case, offered: Offered, judge: Judge, least: float) -> list[str]:
    """Return notes on larger risks, each with its gain on the choice samples.

    Parameters
    ----------
    case : Case
        The case, of which no statistical exit keeps the promised risk and pays.
    offered : Offered
    judge : Judge
        The judge at the promised risk.
    least : float
        Mean instructions of a query with the exits that take no risk.
    """
    alone = judge.alone
    notes = []
    for factor in _FACTORS:
        risk = factor * case.wish.risk
        if risk > _LARGEST:
            break
        cost = _cost(replace(case, wish=replace(case.wish, risk=risk)), offered, judge)
        if cost < _WORTH_TELLING * least:
            least = cost
            notes.append(
                f"--{case.wish.of} {risk:g} would take {ratio_text(alone / cost)} fewer "
                "instructions than the sum alone"
            )
    return notes


def _cost(case: Case, offered: Offered, judge: Judge) -> float:
    """Return the mean instructions of the exits that keep a risk; of the sum without any."""
    alone = judge.alone
    allowing = judge.allowing(allowed_disagreements(judge.samples, case.wish.risk))
    try:
        choice = choose(offered, allowing)
        if not choice.row.takes_risk:
            return alone
        row, kept, _ = controlled(case, choice, allowing)
    except InputError:
        return alone
    return alone if kept is None else allowing.cost(replace(row, scale=kept[1].scale))
