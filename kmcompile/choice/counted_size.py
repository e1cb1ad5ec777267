"""The fewest vectors of which control samples support a risk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache

from kmcompile.choice.program import with_tables_once
from kmcompile.errors import BudgetError, InputError
from kmcompile.lower.formats import Lowered
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.reduction.curve import Point
from kmcompile.reduction.leaf_sizes import LeafSizes
from kmcompile.reduction.risk_to_ask import no_size
from kmcompile.reduction.sizes import Sizes
from kmcompile.request.plan import Plan

_STEP = 1.25
"""Ratio of neighbouring sizes that are compared."""

_STEPS_ABOVE = 4
"""How many sizes larger than that which the samples for the methods suggest the test begins."""

_LARGER_STEPS = 3
"""Sizes that are passed over above these, where the test begins at the largest size."""


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """A machine of one size, its exact program, and what control samples say of it."""

    machine: KernelMachine
    lowered: Lowered
    point: Point


def counted_size(
    sizes: Sizes | LeafSizes,
    measured: Callable[[int], Measured],
    plan: Plan,
    unsure: bool,
    demanded: bool,
) -> tuple[tuple[Point, ...], Measured]:
    """Return the sizes that were tested, and the smallest good one.

    Sizes are tested from large to small on samples that nothing else has seen, until the upper
    limit of the disagreement's probability exceeds the risk: a fixed sequence of tests
    (`exits.statistical.risk`), so that the limit of the last one before holds.

    Parameters
    ----------
    sizes : Sizes or LeafSizes
    measured : callable
        From a number of vectors to what the control samples say.
    plan : Plan
        Its promise has the risk.
    unsure : bool
        Whether the tests begin at the largest size.
    demanded : bool
        Whether an error says what to ask for.

    Raises
    ------
    BudgetError
        If no size keeps the risk and fits the flash; the message tells the curve.
    """
    measured, risk, of = cache(measured), plan.promise.risk, plan.promise.what

    def tested(risk: float) -> list[Measured]:
        found: list[Measured] = []
        for n in _tested(sizes, risk, unsure):
            try:
                found.append(measured(n))
            except InputError:  # the format cannot hold so small a machine
                break
            if not _keeps(found[-1].point, risk):
                break
        return found

    def refused(what: str, flash_bytes: int | None, remedy: str) -> BudgetError:
        if not demanded:
            return BudgetError(what)
        again = lambda risk: [one.point for one in tested(risk)]  # noqa: E731
        return BudgetError(no_size(what, risk, points, again, flash_bytes, remedy, of))

    found = tested(risk)
    points = tuple(one.point for one in found)
    kept = [one for one in found if _keeps(one.point, risk)]
    if not kept:
        raise refused("no size keeps", None, "give more samples")
    budget = with_tables_once(plan).budgets.flash_bytes
    if budget is not None and kept[-1].point.table_bytes > budget:
        given = plan.budgets.flash_bytes
        twice = " with all copies of its tables" if plan.options.copies > 1 else ""
        what = f"no size fits {given:,} bytes of flash{twice} and keeps"
        raise refused(what, budget, "give a larger --max-flash")
    return points, kept[-1]


def _keeps(point: Point, risk: float) -> bool:
    return point.limit is not None and point.limit <= risk


def _tested(sizes: Sizes | LeafSizes, risk: float, from_largest: bool = False) -> Sequence[int]:
    """Return the sizes to test on the control samples, in decreasing order.

    The samples that pick the methods say about which size is the smallest good one. The test begins
    some steps above it, and ends where it fails. If it failed at once, no size would be found,
    however many vectors were left. Where samples repeat others, a frequent input may be among the
    control samples only; what few samples lose is mostly chance. The test then begins at the
    largest size, in larger steps.
    """
    grid, good = good_size(sizes, risk)
    start = max(0, good - _STEPS_ABOVE)
    return [*(grid[:start:_LARGER_STEPS] if from_largest else ()), *grid[start:]]


def good_size(sizes: Sizes | LeafSizes, risk: float) -> tuple[list[int], int]:
    """Return a grid of sizes, and the place of the smallest one that the picking samples allow."""
    grid = [sizes.largest]
    while grid[-1] > 1:
        grid.append(int(grid[-1] / _STEP))
    allowed = sizes.pick.allowed(risk)
    good, bad = 0, len(grid)
    while bad - good > 1:
        middle = (good + bad) // 2
        if sizes.pick.disagreements(sizes.at(grid[middle]).machine) <= allowed:
            good = middle
        else:
            bad = middle
    return grid, good
