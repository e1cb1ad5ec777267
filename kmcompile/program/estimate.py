"""Estimated instructions and flash of a program, by which programs of one machine are compared."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeVar

from kmcompile.program.cost import exact_operations, replay_operations
from kmcompile.program.prices import price_of_stage, price_of_sum, worst_instructions
from kmcompile.program.program import Program
from kmcompile.request.plan import Optimize
from kmcompile.target import Cost

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
    prepared = before * price_of_stage(exact, exact.prepare, cost)
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
