"""Findings: all results of the verification of a program."""

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
from kmcompile.verify.stepping import Stepping


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """All results of the verification of a program.

    Parameters
    ----------
    source : str
        The source of the queries.
    skipped : mapping of "host", "target", "memory", "instructions" to the reason
        The reason for each part that was left out.
    host, target : ExactRun or None
        The exact checks on the host and on the target; None if not made.
    check : ModelCheck or None
        The bounded check; None if nothing was verified.
    memory : Memory or None
        Memory of the target's build.
    instructions : ndarray or None
        Instructions of each accepted query.
    exact_instructions : float or None
        Mean instructions of the exact decision function, if the program has early exits.
    painted_stack_bytes : int or None
        Largest stack measured on the target.
    worst_case : WorstCase or None
        The static worst case in instructions and cycles, if the target was run.
    stepping : Stepping or None
        The instructions of steps, if the C answers in steps and the target was run.
    cycles : ndarray of shape (n, 2) or None
        Fewest and most clock cycles of each accepted query.
    no_cycles : str
        The reason why there are no cycles; "" if there are.
    warnings : tuple of str
        Warnings on checks that were not made although the user may expect them.
    """

    source: Source
    skipped: Mapping[str, str]
    host: ExactRun | None = None
    target: ExactRun | None = None
    check: ModelCheck | None = None
    memory: Memory | None = None
    instructions: np.ndarray | None = None
    exact_instructions: float | None = None
    painted_stack_bytes: int | None = None
    worst_case: WorstCase | None = None
    stepping: Stepping | None = None
    cycles: np.ndarray | None = None
    no_cycles: str = "the target was not run"
    warnings: tuple[str, ...] = ()

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes for the user on the bounded check."""
        return self.check.notes if self.check else ()

    @property
    def evidence(self) -> Evidence | None:
        """The values behind the plots."""
        return self.check.evidence if self.check else None
