"""What one run of a tool found about one claim."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any


class Outcome(Enum):
    """How a claim stands after a run."""

    SHOWN = "shown"
    REFUTED = "refuted"
    OPEN = "open"
    """Not all of the claim was shown; `Finding.listed` says what is left."""
    NOT_RUN = "not run"


WORST_FIRST = (Outcome.REFUTED, Outcome.OPEN, Outcome.NOT_RUN, Outcome.SHOWN)
"""The order in which one outcome stands for several findings."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What one run of a tool found about one claim.

    Parameters
    ----------
    claim : str
        Identifier of the claim, such as "no-run-time-error"; the same for all subjects.
    subject : str
        What the tool looked at: a compiled model, a template, a function.
    outcome : Outcome
    figure : str
        What came out, in a few words with its numbers, such as "0 alarms, 212 functions".
    command : str
        Repeats the run from inside the folder of the evidence.
    tool : str
        Name and version.
    listed : tuple of str
        Each thing that was not shown, with the argument for it or what it means.
    files : tuple of str
        Names of files in the folder of the evidence that the run read or wrote.
    seconds : float
        Processor time of the run; not part of what was found.
    """

    claim: str
    subject: str
    outcome: Outcome
    figure: str
    command: str
    tool: str
    listed: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_json(self) -> dict[str, Any]:
        """Return the finding as it stands in evidence.json."""
        return {
            "claim": self.claim,
            "subject": self.subject,
            "outcome": self.outcome.value,
            "figure": self.figure,
            "command": self.command,
            "tool": self.tool,
            "listed": list(self.listed),
            "files": list(self.files),
            "seconds": round(self.seconds, 1),
        }
