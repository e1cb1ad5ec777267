"""The parts of the evidence that are about kmcompile, not about one compiled model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evidence.attacks import run_attacks
from evidence.rounding import part as rounding
from evidence.supply_chain import run_supply_chain
from evidence.totals import sum_coverage, sum_mutation
from evidence.traceability import run_traceability
from kmcompile.evidence.finding import Finding


@dataclass(frozen=True)
class ToolPart:
    """A part of the evidence about kmcompile.

    Parameters
    ----------
    name : str
        Of the part and of its folder.
    title : str
        What it shows, one short sentence.
    run : callable
        Takes the folder of the part, which is there, and the share of the work to do (1.0 is
        all); returns the findings.
    """

    name: str
    title: str
    run: Callable[[Path, float], Sequence[Finding]]


TOOL_PARTS: tuple[ToolPart, ...] = (
    ToolPart("attacks", "no attack finds a wrong certified label", run_attacks),
    ToolPart("supply_chain", "what kmcompile is made of, and from what", run_supply_chain),
    ToolPart(
        "traceability", "each promise, its code, its tests and its evidence", run_traceability
    ),
    ToolPart(rounding.NAME, rounding.TITLE, rounding.run_part),
)
SUMS: tuple[ToolPart, ...] = (
    ToolPart("coverage", "what the vectors cover over all subjects", sum_coverage),
    ToolPart("mutation", "which small faults they find over all subjects", sum_mutation),
)
"""What sums up the parts of the models, when these have ended."""
