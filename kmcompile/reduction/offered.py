"""Machines of fewer vectors, as they are compared before their disagreements are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from kmcompile.exits.statistical.case import Wish
from kmcompile.lower.formats import Lowered
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.passes.reduction.distance import standing_for
from kmcompile.reduction.choice import Reduced, chosen_size, good_size, lowered_sum
from kmcompile.reduction.curve import Reduction
from kmcompile.reduction.measured import point_of
from kmcompile.reduction.sizes import Answers, Made, Sizes
from kmcompile.request.plan import Plan

STEPS_BEHIND_EXITS = (0, 3)
"""How many sizes larger than the smallest good one machines behind early exits are. The first leave
exits little of the risk; three sizes are about twice as many vectors, which differ less often.
[measured: the first is kept and better for kddcup and mnist 8-3, not kept for adult and ijcnn1; six
sizes are never better]
"""

_LEFT_TO_EXITS = (
    "the promise of the whole program counts the disagreements of exits and fewer vectors together"
)


@dataclass(frozen=True, slots=True, eq=False)
class OfferedSize:
    """A reduced machine before its disagreements are counted.

    Parameters
    ----------
    rows : ndarray of shape (n,), int
        The control samples, as indices of those that the parts are of.
    held : ndarray of shape (n, n_features), float32
        The control samples.
    size : callable
        Returns the number of vectors so many sizes above the smallest good one.
    counted : callable
        Returns the smallest machine whose counts keep the risk. Raises BudgetError if none does.
    behind_exits : callable
        Returns a machine so many sizes larger (`STEPS_BEHIND_EXITS`), with the plan of both.
    """

    rows: NDArray[np.intp]
    held: Float32Array
    size: Callable[[int], int]
    counted: Callable[[], Reduced]
    behind_exits: Callable[[int], Reduced]


def offer_reduced(
    machine: KernelMachine,
    trained: Lowered,
    wish: Wish,
    X: Float32Array,
    plan: Plan,
    doubt_alone: float,
    tell: Callable[[str], None],
) -> OfferedSize:
    """Return the reduced machine that could take the place of a program with early exits.

    Its parts of the samples are those of the exits: what shapes exits is imitated, what chooses
    exits chooses among methods, and the control samples are asked about both programs.

    Parameters
    ----------
    machine : KernelMachine
        The trained machine, before any pass.
    trained : Lowered
        Its exact program.
    wish : Wish
    X : ndarray of shape (n, n_features), float32
        The samples that the parts are of.
    plan : Plan
        The plan of mode statistical.
    doubt_alone : float
        The doubt of fewer vectors without exits; that of exits is in the plan.
    tell : callable

    Raises InputError if no machine has so few vectors.
    """
    parts, risk, demanded = wish.parts, wish.risk, plan.options.reduce is not None
    fit, picked, held = (
        np.ascontiguousarray(X[rows]) for rows in (parts.shape, parts.choice, parts.control.rows)
    )
    for_exits = replace(plan, options=replace(plan.options, reduce="auto"))
    plan = replace(
        plan,
        mode="exact",
        options=replace(plan.options, reduce="auto"),
        promise=replace(plan.promise, risk=risk, doubt=doubt_alone),
        samples=held[:0],
        counted=None,
        truth=None,
    )
    truths = (wish.truth_of(rows) for rows in (parts.choice, parts.control.rows))
    with threadpool_limits(1):  # threads change the rounding of products
        pick, hold = (
            Answers.of(machine, some, None, truth)
            for some, truth in zip((picked, held), truths, strict=True)
        )
        before = point_of(Made(machine, "trained"), trained, hold, parts.control, 0.0)
        on_grid = plan.number_format != "float32"
        sizes = Sizes(machine, machine.n_support_vectors - 1, fit, pick, tell, on_grid)
        grid, good = good_size(sizes, risk)
    asked = replace(plan, samples=held, truth=hold.truth)
    counted = partial(chosen_size, sizes, hold, parts.control, before, asked, demanded)

    def size(steps: int) -> int:
        return grid[max(0, good - 1 - steps)]

    def behind_exits(steps: int) -> Reduced:
        with threadpool_limits(1):
            made = sizes.at(size(steps))
            made = Made(standing_for(machine, made.machine), made.method)
            distance, own = sizes.distance(made.machine), lowered_sum(made.machine, for_exits)
        point = replace(point_of(made, own, None, parts.control, distance), n_samples=len(held))
        reduction = Reduction("auto", None, (before, point), point, (*sizes.notes, _LEFT_TO_EXITS))
        return Reduced(made.machine, for_exits, reduction)

    return OfferedSize(parts.control.rows, held, size, counted, behind_exits)
