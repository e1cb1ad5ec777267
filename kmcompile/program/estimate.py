"""Estimated instructions and flash of a program, by which programs of one machine are compared."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.program.cost import exact_operations, replay_operations
from kmcompile.program.prices import price_of_stage, price_of_sum, worst_instructions
from kmcompile.program.program import Program
from kmcompile.target import Cost

CODE_BYTES = 3_500
"""Approximate size of the code of an exact sum on a board, without its tables."""

EXIT_CODE_BYTES = 2_000
"""Approximate size of the code of an early exit or of a replay."""

EQUAL = 1.1
"""Largest ratio of two estimates that count as equal: estimates are no more exact."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What a program takes on its target, estimated from counted operations and table sizes.

    Parameters
    ----------
    mean : float
        Instructions of one query in the mean, early exits and replays included.
    worst : float
        Instructions of one query that runs through every stage, the replay included.
    flash_bytes : float
    """

    mean: float
    worst: float
    flash_bytes: float


def estimate(
    program: Program,
    exact: Program,
    operations: float,
    gain: float,
    open_share: float,
    cost: Cost,
) -> Estimate:
    """Return the estimate of a program with its early exits and its replay.

    Parameters
    ----------
    program : Program
    exact : Program
        The program without early exits that it was made from.
    operations : float
        Mean multiply-adds of a query by the exact program.
    gain : float
        Mean instructions of the exact program's sum over those of the program after preprocessing.
    open_share : float
        Share of the queries whose label the exact sum leaves open, which a replay settles.
    cost : Cost
        Costs of the target.
    """
    ends = exact.ends
    before = exact_operations(exact) - ends.exact.operations() - ends.label.operations()
    prepared = cost.query + before * price_of_stage(exact, exact.prepare, cost)
    summed = price_of_sum(ends, cost).of(operations - before)
    return with_mean(program, prepared + summed / gain, open_share, cost)


def with_mean(program: Program, mean: float, open_share: float, cost: Cost) -> Estimate:
    """Return the estimate of a program whose mean instructions before a replay are known."""
    stages = (*program.early_exits, *((program.replay,) if program.replay else ()))
    in_integers = program.replay is not None and program.replay.in_integers
    mean_each, worst_each = (
        own.integers if in_integers else own.float64 for own in (cost, cost.worst or cost)
    )
    operations = replay_operations(program)
    return Estimate(
        mean + open_share * operations * mean_each,
        worst_instructions(program, cost) + operations * worst_each,
        program.table_bytes + CODE_BYTES + len(stages) * EXIT_CODE_BYTES,
    )
