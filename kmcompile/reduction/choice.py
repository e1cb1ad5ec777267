"""The machine of fewer vectors that `--reduce` asks for: of `auto` the smallest good one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from threadpoolctl import threadpool_limits

from kmcompile.errors import BudgetError, InputError
from kmcompile.exits.statistical.binomial import confidence_at
from kmcompile.exits.statistical.readings import Evidence
from kmcompile.lower.format_choice import choose_format
from kmcompile.lower.formats import Lowered, lower_in_format
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.passes.reduction.distance import standing_for
from kmcompile.reduction.curve import Point, Reduction
from kmcompile.reduction.leaf_sizes import LeafSizes
from kmcompile.reduction.measured import point_of
from kmcompile.reduction.reducible import require_reducible
from kmcompile.reduction.risk_to_ask import no_size
from kmcompile.reduction.samples import parts_of, require_support
from kmcompile.reduction.sizes import Answers, Made, Sizes
from kmcompile.request.plan import Plan

_STEP = 1.25
"""Ratio of neighbouring sizes that `auto` compares."""

_STEPS_ABOVE = 4
"""How many sizes larger than that which the samples for the methods suggest the test begins."""

_LARGER_STEPS = 3
"""Sizes that are passed over above these, where the test begins at the largest size."""

_SHARE_OF_RISK = 0.5
"""Share of the risk that a reduced machine may take if early exits stand before it."""

_LEFT_TO_THE_PROMISE = (
    "some samples repeat others: only the promise of the whole program counts disagreements of the "
    "reduced machine"
)

_UNKNOWN = (
    "without samples the vectors are chosen by |W - W^| alone, and nothing is known of the labels; "
    "give --data"
)


@dataclass(frozen=True, slots=True, eq=False)
class Reduced:
    """The machine to compile, the plan with the samples that are left, and what was reduced."""

    machine: KernelMachine
    plan: Plan
    reduction: Reduction | None


def reduce_asked(
    machine: KernelMachine,
    plan: Plan,
    tell: Callable[[str], None],
    most_of_leaf: int | None = None,
) -> Reduced:
    """Return the machine with as many vectors as `--reduce` asks for.

    With `auto`, sizes are tested from large to small on samples that nothing else has seen, until
    the upper limit of the disagreement's probability exceeds the risk: a fixed sequence of tests
    (`exits.statistical.risk`), so that the limit of the last one before holds with 99 % confidence.

    Parameters
    ----------
    machine : KernelMachine
        The trained machine, before any pass.
    plan : Plan
    tell : callable
        Called with a few words as each step begins.
    most_of_leaf : int, optional
        Of a routed machine, the most vectors of a leaf. Without `--reduce`, only leaves that have
        more are reduced.

    Raises
    ------
    UsageError
        If `auto` lacks samples, or a tolerance in a regression.
    InputError
        If the machine cannot be reduced, or not to the number asked for.
    BudgetError
        If no size keeps the risk and fits the flash; the message tells the curve.
    """
    asked = None if plan.options.reduce == "off" else plan.options.reduce
    if asked is None and most_of_leaf is None:
        return Reduced(machine, plan, None)
    require_reducible(machine, plan)
    tell("lowering the trained machine")
    lowered = lowered_sum(machine, plan)
    parts = parts_of(lowered, plan)
    if asked == "auto":
        of = plan.promise.what
        require_support(
            parts.held.n, plan.promise.risk, _share_of_risk(plan), len(plan.samples), of
        )
    hold = Answers.of(machine, parts.hold, plan.tolerance, parts.truth.hold)
    pick = Answers.of(machine, parts.pick, plan.tolerance, parts.truth.pick)
    before = point_of(Made(machine, "trained"), lowered, None, parts.held, 0.0)
    if len(plan.samples):
        left, truth = parts.rest, parts.truth.rest
        if not len(left):
            left, truth = parts.hold, parts.truth.hold
        plan = replace(plan, samples=np.ascontiguousarray(left), counted=parts.counted, truth=truth)
    n = machine.n_support_vectors
    most = n - 1 if asked == "auto" else int(asked or n)
    if most_of_leaf is None and most >= n:
        note = f"the machine has {n:,} vectors: there is nothing to reduce"
        return Reduced(machine, plan, Reduction(str(asked), None, (before,), before, (note,)))
    with threadpool_limits(1):  # threads change the rounding of products
        if machine.routing is not None:
            leaves = LeafSizes(machine, parts.fit, pick, tell, most_of_leaf)
            return chosen_size(leaves, hold, parts.held, before, plan)
        on_grid = plan.number_format != "float32"
        sizes = Sizes(machine, most, parts.fit, pick, tell, on_grid)
        return chosen_size(sizes, hold, parts.held, before, plan)


def chosen_size(
    sizes: Sizes | LeafSizes,
    hold: Answers,
    held: Evidence,
    before: Point,
    plan: Plan,
    demanded: bool = True,
) -> Reduced:
    """Return the reduced machine of the asked size, or of `auto` the smallest good one.

    Where no option demands fewer vectors, the tests begin nearer to the size that is likely.
    """
    machine = sizes.machine
    asked = str(plan.options.reduce or machine.n_support_vectors)
    notes = sizes.notes if len(hold.X) else (*sizes.notes, _UNKNOWN)
    sure = confidence_at(plan.promise.doubt)

    @cache
    def measured(n: int) -> tuple[Lowered, KernelMachine, Point]:
        made = sizes.at(n)
        made = Made(standing_for(machine, made.machine), made.method)
        distance, lowered = sizes.distance(made.machine), lowered_sum(made.machine, plan)
        return lowered, made.machine, point_of(made, lowered, hold, held, distance, sure)

    if asked != "auto":
        _, smaller, point = measured(int(asked))
        return _reduced(smaller, plan, Reduction(asked, None, (before, point), point, notes))
    risk = _share_of_risk(plan) * plan.promise.risk
    unsure = held.repeats or plan.counted is not None or (demanded and hold.truth is not None)

    def tested(risk: float) -> list[tuple[Lowered, KernelMachine, Point]]:
        found: list[tuple[Lowered, KernelMachine, Point]] = []
        for n in _tested(sizes, risk, unsure):
            try:
                found.append(measured(n))
            except InputError:  # the format cannot hold so small a machine
                break
            limit = found[-1][2].limit
            if limit is None or limit > risk:
                break
        return found

    def refused(what: str, flash_bytes: int | None, remedy: str) -> BudgetError:
        if not demanded:
            return BudgetError(what)
        asked, share, of = plan.promise.risk, _share_of_risk(plan), plan.promise.what
        again = lambda risk: [point for *_, point in tested(risk)]  # noqa: E731
        return BudgetError(no_size(what, asked, share, points, again, flash_bytes, remedy, of))

    found = tested(risk)
    points = (before, *(point for *_, point in found))
    kept = [each for each in found if each[2].limit is not None and each[2].limit <= risk]
    if not kept:
        raise refused("no size keeps", None, "give more samples")
    lowered, smaller, point = kept[-1]
    budget = plan.budgets.flash_bytes
    if budget is not None and point.table_bytes > budget:
        what = f"no size fits {budget:,} bytes of flash and keeps"
        raise refused(what, budget, "give a larger --max-flash")
    if plan.mode != "statistical":  # what was counted holds in this format
        plan = replace(plan, number_format=lowered.program.number_format)
    return _reduced(smaller, plan, Reduction("auto", risk, points, point, notes))


def _reduced(machine: KernelMachine, plan: Plan, reduction: Reduction) -> Reduced:
    """Return the reduced machine, without limits where the held-out samples support none.

    In mode statistical the samples of groups that no fit may see are left to the promise of the
    whole program. Those that chose the size then lack some frequent inputs.
    """
    if plan.counted is None:
        return Reduced(machine, plan, reduction)
    bare = {id(point): replace(point, disagreements=None, limit=None) for point in reduction.points}
    return Reduced(
        machine,
        plan,
        replace(
            reduction,
            points=tuple(bare[id(point)] for point in reduction.points),
            chosen=bare[id(reduction.chosen)],
            notes=(*reduction.notes, _LEFT_TO_THE_PROMISE),
        ),
    )


def _share_of_risk(plan: Plan) -> float:
    """Return which part of the risk `auto` allows the reduced machine."""
    return _SHARE_OF_RISK if plan.mode == "statistical" else 1.0


def lowered_sum(machine: KernelMachine, plan: Plan) -> Lowered:
    """Return the exact program of a machine in the plan's format; for `auto` in the best one."""
    target, samples = plan.target, plan.format_samples
    if plan.number_format == "auto":
        return choose_format(machine, target, plan.name, None, samples, optimize=plan.optimize)[0]
    return lower_in_format(machine, target, plan.name, plan.number_format, samples)


def _tested(sizes: Sizes | LeafSizes, risk: float, from_largest: bool = False) -> list[int]:
    """Return the sizes to test on the held-out samples, in decreasing order.

    The samples that pick the methods say about which size is the smallest good one. The test begins
    some steps above it, and ends where it fails. If it failed at once, no size would be found,
    however many vectors were left. Where samples repeat others, a frequent input may be among the
    held-out samples only; what few samples lose is mostly chance. The test
    then begins at the largest size, in larger steps.
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
