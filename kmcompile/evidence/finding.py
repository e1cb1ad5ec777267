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


NO_ARGUMENT = "open, no argument is known"
"""What stands behind a thing that was not shown, in the place of the argument for it."""

HOST, READ = "host", "read"
"""Where the C was looked at: built for this machine and run here, or read without being run."""

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
        Each thing that was not shown, with its place, and the argument for it or `NO_ARGUMENT`.
    files : tuple of str
        Names of files in the folder of the evidence that the run read or wrote.
    seconds : float
        Processor time of the run; not part of what was found.
    where : str
        `HOST`, `READ`, or both the host and targets.
    programs : tuple of str
        Commands of others that the run used.
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
    where: str = HOST
    programs: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """Return the finding as it stands in evidence.json."""
        return {
            "claim": self.claim,
            "subject": self.subject,
            "outcome": self.outcome.value,
            "figure": self.figure,
            "command": self.command,
            "tool": self.tool,
            "where": self.where,
            "programs": list(self.programs),
            "listed": list(self.listed),
            "files": list(self.files),
            "seconds": round(self.seconds, 1),
        }
