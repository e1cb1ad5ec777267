"""Exits and sums of every kind for a machine, of small sizes, whether they pay or not."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from kit.chain_models import KERNELS
from kmcompile.exits.certified import (
    bound_sequence,
    local_expansion,
    lower_expansion,
    quadratic,
    subspace,
    taylor_polynomial,
)
from kmcompile.exits.certified.expansion_tree import tree
from kmcompile.exits.certified.lower_quadratic import Parts, lower_quadratic
from kmcompile.exits.certified.lower_subspace import Subspace, lower_subspace
from kmcompile.exits.certified.sign_map import build_sign_map
from kmcompile.exits.certified.vectors.greedy import greedy_vectors
from kmcompile.exits.feature_functions import SUMS
from kmcompile.lower import lower, pair_choice
from kmcompile.lower.formats import Lowered
from kmcompile.lower.integer_program import with_polynomial
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.model.reference import evaluate
from kmcompile.numeric.batch import Batch
from kmcompile.program.program import Program
from kmcompile.program.stages import EarlyExit, PolynomialSum, Stage, TableSum
from kmcompile.target import Target

MAP_BYTES = 40
CENTRES, N_BASIS = (1, 4), 2
"""Of local expansions, and the directions of their curved test."""
N_VECTORS = 8
"""Of a bound sequence, rounded up to its lanes."""
N_SQUARES = 2
"""Of quadratic bounds."""
N_DIMENSIONS, N_TOUCHED = 4, 3
"""Of a subspace, and the kernels beside it."""


def with_ratio(proved: list[Any], ratio: Any, backwards: bool) -> list[Any]:
    """Return certified exits with the test of their ratio about in their middle, never first."""
    place = max(1, (len(proved) + (not backwards)) // 2)
    return [*proved[:place], ratio, *proved[place:]]


def with_stages(program: Program, between: list[Stage]) -> Program:
    """Return the program with stages before its sum, in the mode that they are of."""
    kinds = {stage.exit for stage in between}
    mode = "statistical" if "statistical" in kinds else "certified" if kinds else "exact"
    exits = (*program.exits, *between)
    return replace(program, mode=mode, exits=exits)


def certified_exits(
    machine: KernelMachine, program: Program, samples: np.ndarray
) -> Iterator[EarlyExit]:
    """Yield one exit of every certified kind that there is for a machine, whether it pays or not.

    Of small sizes that are given: the compiler's search for good ones takes most of its time.
    """
    batch = program.prepare.run(Batch.of(samples, program.n_decisions))
    sign_map = build_sign_map(machine, program, samples, MAP_BYTES)
    if sign_map is not None:
        yield sign_map
    if local_expansion.supports(machine, program):
        labels = evaluate(machine, samples).labels
        levels = tree(machine, program, batch.x.astype(np.float64), labels, CENTRES)
        bend = lower_expansion.curvature(levels[-1], N_BASIS)
        stage = lower_expansion.lower_local_expansion(machine, CENTRES, levels, bend)
        yield local_expansion.with_intercept(stage, program)
        if not taylor_polynomial.why_not(machine, program):
            yield taylor_polynomial.lower_taylor(machine, CENTRES, levels, 2)
    if not bound_sequence.why_not(machine, program):
        vectors = greedy_vectors(Normals.of(machine), N_VECTORS)
        sequence = bound_sequence.lower_bound_sequence(machine, program, vectors)
        assert sequence is not None
        yield sequence
    if subspace.supports(machine, program):
        trial = subspace.Trial.of(machine, program, batch)
        directions = trial.directions[:N_DIMENSIONS]
        degree = KERNELS["poly"]["degree"]
        within = Subspace.of(program, directions, trial.delta, degree)
        yield lower_subspace(machine, program, within, trial.unit, N_TOUCHED)
    if not quadratic.why_not(machine, program):
        yield lower_quadratic(Parts.of(machine), N_SQUARES)


def without_vectors(lowered: Lowered, target: Target) -> Lowered:
    """Return the program with a sum without vectors in place of its sum, if it pays or not."""
    name, ordinary = lowered.program.name, lowered.ordinary
    if lowered.coded is not None:
        made = lowered.program
        if not isinstance(made.sum, TableSum):
            made = with_polynomial(made, lowered.coded, target)
        return replace(lowered, program=made)
    kind = SUMS.get(lowered.machine.kernel.additive, PolynomialSum)
    program = lower(lowered.machine, target, name, ordinary, vectorless=kind)
    return replace(lowered, program=program)


def summed_by_pairs(lowered: Lowered, program: Program, samples: np.ndarray) -> Program:
    """Return the program with a sum that is evaluated pair by pair, whether that pays or not."""
    usual, pair_choice.WORST_FACTOR = pair_choice.WORST_FACTOR, np.inf
    try:
        made = pair_choice.with_pair_sum(lowered.machine, program, lowered.ordinary, samples)
    finally:
        pair_choice.WORST_FACTOR = usual
    assert made is not None
    return made
