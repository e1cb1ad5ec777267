"""A part of the evidence: one kind of claim, and the tool that shows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from kmcompile.evidence.finding import Finding
from kmcompile.evidence.subject import Subject


@dataclass(frozen=True, slots=True)
class Part:
    """A part of the evidence.

    Parameters
    ----------
    name : str
        Of the part and of its folder in the evidence, such as "run_time_errors".
    title : str
        What it shows, one short sentence.
    run : callable
        Takes a subject and the part's folder, in which it writes what is needed to repeat the
        run; returns the findings. A tool that is not installed gives findings that were not run
        and name the command that installs it.
    of_share : callable, optional
        As `run`, with the share of its work to do as a third argument, of a part whose work on one
        subject can be less.
    """

    name: str
    title: str
    run: Callable[[Subject, Path], Sequence[Finding]]
    of_share: Callable[[Subject, Path, float], Sequence[Finding]] | None = None

    def look(self, subject: Subject, folder: Path, share: float) -> Sequence[Finding]:
        """Run on a subject, with a share of the work where there can be less of it."""
        if self.of_share is None:
            return self.run(subject, folder)
        return self.of_share(subject, folder, share)
