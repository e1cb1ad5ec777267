"""What verification found about a program."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from kmcompile.build.artifact import Memory
from kmcompile.machine_code.worst_case import WorstCase
from kmcompile.verify.checked import ExactRun
from kmcompile.verify.checks import ModelCheck
from kmcompile.verify.evidence import Evidence
from kmcompile.verify.queries import Source


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """What was found about a program.

    Parameters
    ----------
    source : str
        Where the queries come from.
    host, target : ExactRun or None
        The exact checks that were made.
    skipped : mapping of "host", "target", "memory", "instructions" to the reason
        Why something was not done.
    check : ModelCheck or None
        The bounded check, None where nothing was verified.
    memory : Memory or None
        Of the target's build.
    instructions : ndarray or None
        Of every accepted query.
    exact_instructions : float or None
        Of the decision function, where the program has early exits.
    painted_stack_bytes : int or None
        The deepest stack that was seen on the target.
    worst_case : WorstCase or None
        The static worst case in instructions, where the target was run.
    warnings : tuple of str
        What was not checked although the user may think so.
    """

    source: Source
    host: ExactRun | None
    target: ExactRun | None
    skipped: Mapping[str, str]
    check: ModelCheck | None
    memory: Memory | None
    instructions: np.ndarray | None
    exact_instructions: float | None = None
    painted_stack_bytes: int | None = None
    worst_case: WorstCase | None = None
    warnings: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the user should know of the bounded check."""
        return self.check.notes if self.check else ()

    @property
    def evidence(self) -> Evidence | None:
        """The values behind the plots."""
        return self.check.evidence if self.check else None
