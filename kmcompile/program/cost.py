"""Counted operations of a query: by the exact sum alone, and in the worst case."""

from __future__ import annotations

from kmcompile.program.program import Program
from kmcompile.program.stages import (
    CodeRange,
    CodeTable,
    EarlyExit,
    ExactSum,
    FixedSum,
    Nonzeros,
    RoutedFixedSum,
    Stage,
    TableSum,
)
from kmcompile.target import Cost, OperationCost


def exact_operations(program: Program) -> int:
    """Return the multiply-adds of the program without its early exits and the stages for them."""
    ends = program.ends
    needed = isinstance(ends.exact, ExactSum) and ends.exact.skip_zeros
    lists = tuple(s for s in program.stages if needed and isinstance(s, Nonzeros))
    stages: tuple[Stage, ...] = (program.prepare, *lists, ends.exact, ends.label)
    return sum(stage.operations() for stage in stages)


def estimated_instructions(program: Program, operations: float, cost: Cost) -> float:
    """Return an estimate of the instructions of one query without early exits.

    The estimate serves to compare formats of one machine. Operations other than products do not
    depend on the input, so the products are the remainder of the query's operations.

    Parameters
    ----------
    program : Program
    operations : float
        Multiply-adds of the query, or their mean.
    cost : Cost
        Costs of the target.
    """
    stage = program.ends.exact
    of_products, of_others = cost.float32, cost.float32
    if program.codes is not None:
        of_products = _integer_cost(program.codes, cost)
    if isinstance(stage, FixedSum | TableSum | RoutedFixedSum):
        of_others = of_products
    others = exact_operations(program) - _product_operations(program)
    return (operations - others) * of_products.product + others * of_others.other


def _integer_cost(codes: CodeTable | CodeRange, cost: Cost) -> OperationCost:
    return cost.int16 if codes.width == "int16" else cost.int8


def _product_operations(program: Program) -> int:
    """Return the multiply-adds of distances and inner products for an input without zeros."""
    stage = program.ends.exact
    if isinstance(stage, TableSum):
        return 0
    if isinstance(program.codes, CodeTable):
        return program.codes.operations()
    if isinstance(stage, ExactSum):
        return stage.n_slots * stage.total_operations
    return stage.operations()


def worst_operations(program: Program) -> int:
    """Return the worst-case multiply-adds of a query before a replay: it runs through every stage.

    The worst case is an input without zeros that touches as many vectors as possible and is
    decided by the last stage. An earlier decision is cheaper: a touched vector costs the early
    exit more than it saves in the exact sum.
    """
    ends = program.ends
    stages = (program.prepare, *program.exits)
    return (
        sum(stage_worst_operations(program, stage) for stage in stages)
        + program.float_codes_operations
        + ends.exact.operations()
        - sum(stage.saved_operations(ends) for stage in program.early_exits)
        + ends.label.operations()
    )


def replay_operations(program: Program) -> int:
    """Return the multiply-adds of the replay with its label tests; 0 without a replay."""
    if program.replay is None:
        return 0
    return program.replay.operations() + program.ends.label.operations()


def stage_worst_operations(program: Program, stage: Stage) -> int:
    """Return the worst-case multiply-adds of one stage, with the label tests of an early exit."""
    if isinstance(stage, EarlyExit):
        return stage.weighted_operations(program.ends)
    if stage in program.exits:
        return program.ends.weight(stage) * stage.operations()
    return stage.operations()


def weight_notes(program: Program) -> tuple[str, ...]:
    """Return notes on the weight of float32 operations in a program whose sum is in integers."""
    if not program.floats_codes or program.float_weight == 1:
        return ()
    return (
        "operations of early exits in float32 are weighted: one counts for "
        f"{program.float_weight} of integers, which take as many instructions on {program.target}",
    )
