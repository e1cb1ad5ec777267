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
    """

    name: str
    title: str
    run: Callable[[Subject, Path], Sequence[Finding]]
