"""Estimated instructions and flash of a program, by which programs of one machine are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from kmcompile.program.cost import exact_operations, replay_operations, worst_operations
from kmcompile.program.program import Program
from kmcompile.program.stages import (
    CodedLinearSum,
    CodeRange,
    CodeTable,
    ExactSum,
    FixedSum,
    RoutedFixedSum,
    TableSum,
)
from kmcompile.request.plan import Optimize
from kmcompile.target import Cost, OperationCost

CODE_BYTES = 3_500
"""Approximate size of the code of an exact sum on a board, without its tables."""

EXIT_CODE_BYTES = 2_000
"""Approximate size of the code of an early exit or of a replay."""

EQUAL = 1.1
"""Largest ratio of two estimates that count as equal: estimates are no more exact."""

_FAST, _SHORT = 1.5, 1.25
"""Largest ratios to the least mean and to the least worst case of programs that are taken for
equally fast where no figure comes first."""

_ORDERS: Mapping[Optimize, tuple[tuple[str, float], ...]] = {
    "balanced": (("mean", _FAST), ("worst", _SHORT), ("flash_bytes", 1.0)),
    "mean": (("mean", EQUAL), ("worst", EQUAL), ("flash_bytes", EQUAL)),
    "worst": (("worst", EQUAL), ("mean", EQUAL), ("flash_bytes", EQUAL)),
    "flash": (("flash_bytes", EQUAL), ("mean", EQUAL), ("worst", EQUAL)),
}

Key = TypeVar("Key", str, int)


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


def best(found: Mapping[Key, Estimate], optimize: Optimize, least_mean: float = math.inf) -> Key:
    """Return the key of the best estimate; the first of those that are equal.

    "balanced": programs whose mean is within one and a half times the least count as equally fast.
    Of these, those count whose worst case is within a quarter of the least, and of these the
    smallest flash is taken. Otherwise what `optimize` names is compared first. What differs by less
    than a tenth counts as equal then, and the next value decides. No other estimate is smaller in
    all three.

    Parameters
    ----------
    found : mapping to Estimate
    optimize : {"balanced", "mean", "worst", "flash"}
    least_mean : float
        "balanced": the least mean of programs that are not in `found`.

    Examples
    --------
    >>> fast, small = Estimate(100.0, 900.0, 64_000), Estimate(104.0, 400.0, 9_000)
    >>> best({"fast": fast, "small": small}, "mean")
    'small'
    >>> best({"slow": Estimate(200.0, 900.0, 9_000), "fast": fast}, "mean")
    'fast'
    >>> best({"fast": fast, "even": Estimate(140.0, 150.0, 9_000)}, "balanced")
    'even'
    """
    able = dict(found)
    if optimize == "balanced":
        fast = {key: one for key, one in able.items() if one.mean <= _FAST * least_mean}
        able = fast or able
    for field, ratio in _ORDERS[optimize]:
        least = min(getattr(one, field) for one in able.values())
        able = {key: one for key, one in able.items() if getattr(one, field) <= ratio * least}
    return next(iter(able))


def estimate(
    program: Program, operations: float, speedup: float, open_share: float, cost: Cost
) -> Estimate:
    """Return the estimate of a program with its early exits and its replay.

    Parameters
    ----------
    program : Program
    operations : float
        Mean multiply-adds of a query by the exact sum alone.
    speedup : float
        The gain of the early exits in operations.
    open_share : float
        Share of the queries whose label the exact sum leaves open, which a replay settles.
    cost : Cost
        Costs of the target.
    """
    stages = (*program.early_exits, *((program.replay,) if program.replay else ()))
    mean = estimated_instructions(program, operations, cost) / speedup
    in_integers = program.replay is not None and program.replay.in_integers
    each = cost.integers if in_integers else cost.float64
    replayed = replay_operations(program) * each
    worst = worst_operations(program) - program.sums_at_once * replay_operations(program)
    return Estimate(
        mean + open_share * replayed,
        estimated_instructions(program, worst, cost) + replayed,
        program.table_bytes + CODE_BYTES + len(stages) * EXIT_CODE_BYTES,
    )


def estimated_instructions(program: Program, operations: float, cost: Cost) -> float:
    """Return an estimate of the instructions of one query without early exits.

    Operations other than products do not depend on the input, so the products are the remainder
    of the query's operations.

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
    if isinstance(stage, FixedSum | TableSum | RoutedFixedSum | CodedLinearSum):
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
