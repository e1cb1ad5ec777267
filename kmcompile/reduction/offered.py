"""Machines of fewer vectors, as they are compared before their disagreements are counted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
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

_STEPS_BEHIND_EXITS = 3
"""How many sizes larger a machine behind early exits is, about twice as many vectors: it differs
less often, and leaves the exits most of the risk. [measured: adult, ijcnn1, mnist 8-3, kddcup]
"""

_LEFT_TO_EXITS = (
    "the promise of the whole program counts the disagreements of exits and fewer vectors together"
)


@dataclass(frozen=True, slots=True, eq=False)
class OfferedSize:
    """A reduced machine before its disagreements are counted.

    Parameters
    ----------
    wish : Wish
        The risk, and the parts of the samples.
    lowered : Lowered
        The exact program of about as many vectors as the counts will leave.
    counted : callable
        Returns the smallest machine whose counts keep the risk.
    behind_exits : callable
        Returns a machine that leaves early exits most of the risk, with the plan of both.
    """

    wish: Wish
    lowered: Lowered
    counted: Callable[[], Reduced]
    behind_exits: Callable[[], Reduced]


def offer_reduced(
    machine: KernelMachine,
    trained: Lowered,
    wish: Wish,
    X: Float32Array,
    plan: Plan,
    tell: Callable[[str], None],
) -> OfferedSize:
    """Return the reduced machine that could take the place of a program with early exits.

    Its parts of the samples are those of the exits: what shapes exits is imitated, what chooses
    exits chooses among methods, and one of the two programs asks the control samples.

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
    tell : callable

    Raises InputError if no machine has so few vectors.
    """
    parts, risk = wish.parts, wish.risk
    fit, picked, held = (
        np.ascontiguousarray(X[rows]) for rows in (parts.shape, parts.choice, parts.control.rows)
    )
    for_exits = replace(plan, options=replace(plan.options, reduce="auto"))
    plan = replace(
        plan,
        mode="exact",
        options=replace(plan.options, reduce="auto"),
        promise=replace(plan.promise, risk=risk),
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
        smaller = standing_for(machine, sizes.at(grid[max(0, good - 1)]).machine)
        lowered = lowered_sum(smaller, plan)
    asked = replace(plan, samples=held, truth=hold.truth)
    counted = partial(chosen_size, sizes, hold, parts.control, before, asked, from_largest=True)

    def behind_exits() -> Reduced:
        with threadpool_limits(1):
            made = sizes.at(grid[max(0, good - 1 - _STEPS_BEHIND_EXITS)])
            made = Made(standing_for(machine, made.machine), made.method)
            distance, own = sizes.distance(made.machine), lowered_sum(made.machine, for_exits)
        point = replace(point_of(made, own, None, parts.control, distance), n_samples=len(held))
        reduction = Reduction("auto", None, (before, point), point, (*sizes.notes, _LEFT_TO_EXITS))
        return Reduced(made.machine, for_exits, reduction)

    return OfferedSize(wish, lowered, counted, behind_exits)
