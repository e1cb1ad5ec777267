"""Counted operations of a query: by the exact sum alone, and in the worst case."""

from __future__ import annotations

from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit, Nonzeros, Stage


def exact_operations(program: Program) -> int:
    """Return the multiply-adds of the program without its early exits and the stages for them."""
    ends = program.ends
    stages: tuple[Stage, ...] = (program.prepare, ends.exact, ends.label)
    return sum(stage.operations() for stage in stages) + list_operations(program)


def list_operations(program: Program) -> int:
    """Return the multiply-adds of listing the features that are not 0, for a sum of these."""
    lists = (one for one in program.stages if isinstance(one, Nonzeros))
    return sum(one.operations() for one in lists) if program.ends.exact.skip_zeros else 0


def worst_operations(program: Program) -> int:
    """Return the worst-case multiply-adds of a query before a replay: it runs through every stage.

    A replay that takes the place of the exact sum counts as this sum.

    The worst case is an input without zeros that touches as many vectors as possible and is
    decided by the last stage. An earlier decision is cheaper: a touched vector costs the early
    exit more than it saves in the exact sum.
    """
    ends = program.ends
    stages = (program.prepare, *program.exits)
    before = sum(stage_worst_operations(program, stage) for stage in stages)
    if program.sums_at_once:
        return before + replay_operations(program)
    return (
        before
        + stage_worst_operations(program, ends.exact)
        - sum(stage.saved_operations(ends) for stage in program.early_exits)
        + ends.label.operations()
    )


def replay_operations(program: Program) -> int:
    """Return the multiply-adds of the replay with its label tests; 0 without a replay."""
    if program.replay is None:
        return 0
    return program.replay.operations() + program.ends.label.operations()


def stage_worst_operations(program: Program, stage: Stage) -> int:
    """Return the worst-case multiply-adds of one stage, with the label tests of an early exit.

    Codes that early exits read in float count to the preprocessing, the bounds over a box of inputs
    to the exact sum.
    """
    if isinstance(stage, EarlyExit):
        return stage.weighted_operations(program.ends)
    if stage in program.exits:
        return program.ends.weight(stage) * stage.operations()
    if stage is program.prepare:
        return stage.operations() + program.float_codes_operations
    if stage is program.sum and program.box is not None:
        return stage.operations() + program.box.operations(program.ends)
    return stage.operations()


def weight_notes(program: Program) -> tuple[str, ...]:
    """Return notes on the weight of float32 operations in a program whose sum is in integers."""
    if not program.floats_codes or program.float_weight == 1:
        return ()
    return (
        "operations of early exits in float32 are weighted: one counts for "
        f"{program.float_weight} of integers, which take as many instructions on {program.target}",
    )
