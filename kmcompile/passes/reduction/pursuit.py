"""Hyperplane matching pursuit: vectors chosen one after the other (RSS 2004, sections 3.1, 3.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from kmcompile.errors import UsageError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.reduction.growing import GrowingBasis, Growth
from kmcompile.passes.reduction.pools import Pool
from kmcompile.passes.reduction.selection import Selection

Rule = Literal["matching_pursuit", "orthogonal_least_squares"]
RULES: tuple[Rule, ...] = get_args(Rule)


def pursue(
    machine: KernelMachine,
    n: int,
    rule: Rule = "matching_pursuit",
    pools: Sequence[Pool] | None = None,
    normals: Normals | None = None,
) -> Selection:
    """Return at most n support vectors, each the best by a rule, given those before it.

    What is made small is sum_p |W_p - W^_p|^2 / |W_p|^2 (Algorithm 3.2 with efficient backfitting,
    and its form for several hyperplanes, eq. 12 and 13). The paper does not divide by |W_p|^2; it
    makes decisions with large normals no more important than others. There are fewer than n vectors
    if all others lie nearly in the span of the chosen ones.

    Parameters
    ----------
    machine : KernelMachine
    n : int
    rule : {"matching_pursuit", "orthogonal_least_squares"}
        Whether a vector is judged by its own best weight (the paper's rule), or by the best
        weights of all vectors with it.
    pools : sequence of Pool, optional
        Default: `joint_pools`.
    normals : Normals, optional
        The machine's normals, if they are known.

    Raises
    ------
    InputError
        The kernel is not positive definite.
    UsageError
        There is no such rule.
    """
    if rule not in RULES:
        raise UsageError(f"rule {rule}: must be one of {', '.join(RULES)}")
    growth = Growth(machine, pools, normals)
    growth.add_best(n, _by_paper if rule == "matching_pursuit" else _by_least_squares)
    return growth.selection()


def _by_paper(basis: GrowingBasis) -> Float64Array:
    """Return what each member takes of the sum of relative |W_p - W^_p|^2 by itself (eq. 13)."""
    return _gains(basis, basis.squares)


def _by_least_squares(basis: GrowingBasis) -> Float64Array:
    """Return what each member takes of that sum if all weights are fitted again."""
    return _gains(basis, basis.left)


def _gains(basis: GrowingBasis, divisor: Float64Array) -> Float64Array:
    usable = basis.usable
    gains = (basis.products**2) @ basis.relative / np.where(usable, divisor, 1.0)
    return np.where(usable, gains, 0.0)
