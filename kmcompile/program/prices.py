"""Prices: estimated instructions of a target for each counted operation of a stage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float64Array
from kmcompile.program.cost import stage_worst_operations
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit, Nonzeros, Stage
from kmcompile.program.stages.ends import Ends
from kmcompile.target import Cost, OperationCost

Counts = TypeVar("Counts", float, Float64Array)

_EACH = OperationCost(1.0, 1.0)

OPERATIONS = Cost(_EACH, _EACH, _EACH, 1.0, 1.0)
"""The cost with which every operation counts as one instruction."""


@dataclass(frozen=True, slots=True)
class Price:
    """The estimated instructions of a stage: those of every query, and those of an operation.

    Parameters
    ----------
    fixed, each : float
    """

    fixed: float
    each: float

    def of(self, operations: Counts) -> Counts:
        """Return the instructions of queries that take so many multiply-adds."""
        return self.fixed + self.each * operations


def price_of_sum(ends: Ends, cost: Cost) -> Price:
    """Return the price of the sum with the label.

    Operations other than products do not depend on the input, so the products are the remainder
    of the query's operations. Of a pair sum, a query does a share of both.

    Parameters
    ----------
    ends : Ends
    cost : Cost
        Costs of the target.
    """
    stage, products = ends.exact, ends.exact.product_operations
    own = _cost_of_sum(ends, cost)
    others = stage.operations() - products
    if stage.sums_pairs:
        spent = own.product * products + own.other * others
        return Price(0.0, spent / stage.operations())
    floats = stage.float_operations
    fixed = (others - floats) * (own.other - own.product)
    fixed += floats * (cost.float32.other - own.product)
    fixed += ends.label.operations() * ((cost.label or own.other) - own.product)
    return Price(fixed, own.product)


def price_of_exit(stage: EarlyExit, ends: Ends, cost: Cost) -> float:
    """Return the instructions of an operation of an early exit, as a program counts it."""
    if stage.in_integers:
        return cost.int16.other
    return cost.of_stage(stage.template) / ends.float_weight


def price_of_stage(program: Program, stage: Stage, cost: Cost) -> float:
    """Return the instructions of an operation of a stage before the sum, as a program counts it.

    The C takes codes, and a program of codes prepares them in integers.
    """
    if isinstance(stage, EarlyExit):
        return price_of_exit(stage, program.ends, cost)
    if isinstance(stage, Nonzeros):
        return cost.of_stage(stage.template)
    other = _cost_of_sum(program.ends, cost).other
    in_integers = stage.in_integers or (stage is program.prepare and program.ends.in_integers)
    if in_integers or stage.template not in dict(cost.stages):
        return other
    return cost.of_stage(stage.template) / program.ends.float_weight


def price_of_floats(stages: Sequence[EarlyExit], ends: Ends, cost: Cost) -> float:
    """Return the instructions of converting codes to float32 for early exits that need floats."""
    codes = ends.exact.codes
    if codes is None or all(stage.in_integers for stage in stages):
        return 0.0
    return codes.n_features * ends.float_weight * _cost_of_sum(ends, cost).other


def instructions_of(
    program: Program, stage_operations: NDArray[np.int64], cost: Cost
) -> Float64Array:
    """Return the estimated instructions of queries before a replay, shape (n_queries,).

    Parameters
    ----------
    program : Program
    stage_operations : ndarray of shape (n_queries, n_stages), int64
        Multiply-adds in each stage, -1 where a query did not reach it (`Answers`).
    cost : Cost
        Costs of the target.
    """
    *before, of_sum, of_label = np.maximum(stage_operations, 0).T
    price = price_of_sum(program.ends, cost)
    summed = stage_operations[:, -2] >= 0
    spent: Float64Array = np.where(summed, price.of((of_sum + of_label).astype(np.float64)), 0.0)
    for stage, operations in zip(program.stages, before, strict=False):
        spent += price_of_stage(program, stage, cost) * operations
    spent[stage_operations[:, 0] >= 0] += cost.query
    return spent


def worst_instructions(program: Program, cost: Cost) -> float:
    """Return the estimated instructions of a query that runs through every stage, but no replay."""
    ends, cost = program.ends, cost.worst or cost
    spent = cost.query + sum(
        price_of_stage(program, stage, cost) * stage_worst_operations(program, stage)
        for stage in (program.prepare, *program.exits)
    )
    if program.sums_at_once:
        return spent
    saved = sum(stage.saved_operations(ends) for stage in program.early_exits)
    summed = stage_worst_operations(program, ends.exact) - saved + ends.label.operations()
    return spent + price_of_sum(ends, cost).of(float(summed))


def _cost_of_sum(ends: Ends, cost: Cost) -> OperationCost:
    """Return the costs of a sum's products and of its other operations."""
    stage, own = ends.exact, cost.float32
    kernel, codes = stage.kernel, stage.codes
    if stage.sums_pairs:
        return cost.pair_sum or own
    if codes is not None:
        own = cost.of_width(codes.width)
        if stage.others_in_floats:
            own = OperationCost(own.product, cost.float32.other)
    elif stage.skip_zeros:
        own = OperationCost(cost.listed or own.product, own.other)
    elif kernel is not None and kernel.uses_inner_product:
        own = OperationCost(cost.inner or own.product, own.other)
    return OperationCost(dict(cost.stages).get(stage.template, own.product), own.other)
