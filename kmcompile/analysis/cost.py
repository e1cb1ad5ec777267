"""Counted operations: what the exact sum alone takes, and the worst that any query can take."""

from __future__ import annotations

from kmcompile.ir.program import Program
from kmcompile.stages import EarlyExit, ExactSum, NearestVectors, Nonzeros, Stage


def exact_operations(program: Program) -> int:
    """Return the multiply-adds of the program without its early exits and what they need."""
    ends = program.ends
    needed = isinstance(ends.exact, ExactSum) and ends.exact.skip_zeros
    lists = tuple(s for s in program.stages if needed and isinstance(s, Nonzeros))
    stages: tuple[Stage, ...] = (program.prepare, *lists, ends.exact, ends.label)
    return sum(stage.operations() for stage in stages)


def worst_operations(program: Program) -> int:
    """Return the most multiply-adds that any query can take: every stage, and none decides.

    An input without zeros that touches all it may and goes to the end. Leaving earlier is
    cheaper: a touched vector costs the early exit more than it saves the exact sum.
    """
    ends = program.ends
    stages = program.stages[:-2]
    return (
        sum(stage_worst_operations(program, stage) for stage in stages)
        + ends.exact.operations()
        - sum(_saved_operations(program, stage) for stage in stages)
        + ends.label.operations()
    )


def stage_worst_operations(program: Program, stage: Stage) -> int:
    """Return the most multiply-adds of one stage, the label tests of an early exit included."""
    if isinstance(stage, EarlyExit):
        return stage.worst_operations(program.ends)
    return stage.operations()


def _saved_operations(program: Program, stage: Stage) -> int:
    """Return what the exact sum saves by the kernels that the stage has computed."""
    exact = program.ends.exact
    if not isinstance(stage, NearestVectors) or not isinstance(exact, ExactSum):
        return 0
    return stage.max_touched * exact.total_operations
