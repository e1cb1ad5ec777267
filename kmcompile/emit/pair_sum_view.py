"""The C functions of a pair sum, each after the functions that it calls."""

from __future__ import annotations

from typing import Any

from kmcompile.emit.early_exits_view import EarlyExitsView
from kmcompile.emit.environment import render
from kmcompile.emit.totals_view import totals_call
from kmcompile.program.stages import Label, PairSum
from kmcompile.program.stages.labels.vote import ROUNDED_UP
from kmcompile.program.stages.sums.pair_sum import SECTION


def pair_sum_sections(
    stage: PairSum, label: Label, early: EarlyExitsView, names: dict[str, str]
) -> list[str]:
    """Return the functions of the pair sum, after those of the kernel and its totals.

    With early exits, the label stage makes a label of all decisions, and shares functions with the
    sum. Pairs that certified exits have proved are not summed.
    """
    own: dict[str, Any] = {"stage": stage, "totals": totals_call(stage), "finds_vectors": True}
    own["coefficient"] = f"{names['name']}_coefficients[entry]"
    votes = "stages/vote" if early.exits else "vote/standing"
    recalls = {"recalls": early.proves, "keeps_middles": early.keeps_middles}
    longest = {"longest_pair": stage.longest_pair}
    return [
        *all_pairs_sections(stage, {**own, **names}),
        render(f"{votes}.c.j2", stage=label, rounded_up=ROUNDED_UP, **names),
        *([render("early_exits/middle.c.j2", **names)] if early.proves else []),
        render("stages/pair_sum.c.j2", stage=label, **recalls, **longest, **names),
    ]


def all_pairs_sections(stage: PairSum, own: dict[str, Any]) -> list[str]:
    """Return the functions up to the decisions of all pairs, in the arithmetic of `own`."""
    more = {"section": SECTION, "longest": stage.longest_list}
    return [
        render("pair_sum/kernel.c.j2", **own),
        render("pair_sum/pairs.c.j2", **more, **own),
    ]
