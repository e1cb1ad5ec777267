"""Any small model whose C answers in steps, too.

For tests of the schedule, of jobs and of their C.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from kit.emitted import Emitted
from kit.sharing import shared
from kmcompile.program.program import Program
from kmcompile.program.schedule import smallest_step, weighted_step
from kmcompile.target import Target


@dataclass(frozen=True)
class InSteps:
    """A model in steps of some times the smallest number of operations.

    Parameters
    ----------
    model : object
        What has an `emit`, such as a case of the catalogue.
    times : float
    """

    model: Any
    times: float = 1.0

    def __str__(self) -> str:
        return f"{self.times:g}-steps-{self.model}"

    @shared
    def emit(self, target: str | Target, name: str = "iris") -> Emitted:
        """Return the emitted C."""
        emitted = self.model.emit(target, name)
        return replace(emitted, program=in_steps(emitted.program, emitted.target, self.times))


def in_steps(program: Program, target: Target, times: float = 1.0) -> Program:
    """Return a program with `--step` of some times the smallest number of operations.

    The exact sum stands before its replay again: steps pass it.
    """
    if program.replay is not None and program.replay.at_once:
        program = replace(program, replay=replace(program.replay, at_once=False))
    step = weighted_step(program, target, 1)
    program = replace(program, step=step)
    least = smallest_step(program).operations
    return replace(program, step=replace(step, operations=min(int(times * least), 2**32 - 1)))
