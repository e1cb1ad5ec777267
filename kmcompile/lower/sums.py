"""Lowering of the decision function to the stage of the exact sum, in float32 or float64."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from kmcompile.errors import InputError
from kmcompile.lower.stored import flushed_norm, stored
from kmcompile.lower.sum_constants import (
    RESULT_ROUNDINGS,
    SumContext,
    Summation,
    squares,
    sum_constants,
)
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.numeric.arrays import Float64Array, lane_blocks
from kmcompile.numeric.rounding import FLOAT32, Precision
from kmcompile.passes.sum_linear import sum_linear
from kmcompile.program.stages import ExactSum, LinearSum
from kmcompile.program.stages.sums.exact_sum import MOST_PLAIN

_MAX_BLOCKS = 0xFFFF

_FEW_BLOCKS = 32
"""Most blocks of a group that is not parted."""

_PART_BLOCKS = 4
"""Blocks of a part."""


def lower_linear(
    machine: KernelMachine, lanes: int, precision: Precision = FLOAT32, low_parts: bool = False
) -> LinearSum:
    """Return the stage of a linear machine, whose support vectors become weights.

    `low_parts` as in `SumContext`.
    """
    weights, summed_error = sum_linear(machine)
    lanes = min(lanes, 1 << (machine.n_decisions - 1).bit_length())
    table = stored(weights, precision, low_parts)
    wide = table.astype(np.float64)
    error = np.sqrt(((weights - wide) ** 2).sum(axis=1)) * (1 + 1e-12) + summed_error
    error += flushed_norm(table)
    norm = np.sqrt((wide**2).sum(axis=1)) * (1 + 1e-9)
    n = weights.shape[1]
    intercept = machine.intercept.astype(precision.dtype)
    constant = np.abs(machine.intercept - intercept) + machine.intercept_error
    constant += (n + 4) * 2 * precision.smallest_normal
    return LinearSum(
        weights=lane_blocks(wide, lanes, precision.dtype),
        intercept=intercept,
        per_length=precision.bound_constants(precision.gamma_factor(n) * norm + error),
        per_deviation=precision.bound_constants(norm + error),
        minimum=precision.bound_constants(constant),
        result_error=precision.bound_constant(RESULT_ROUNDINGS * precision.unit_roundoff),
    )


@dataclass(frozen=True, slots=True, eq=False)
class SignGroup:
    """A group of vectors whose coefficients have one sign in each decision.

    There may also be a single group of all vectors with any signs (`vector_groups`).
    """

    vectors: np.ndarray
    """Indices of the machine's support vectors."""
    rows: Float64Array
    """ndarray of shape (n_rows, n_vectors): coefficients of the vectors."""
    decisions: tuple[int, ...]


def lower_sum(
    machine: KernelMachine,
    lanes: int,
    context: SumContext,
) -> ExactSum:
    """Return the stage that sums over all support vectors of a machine with a real kernel.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes.
    lanes : int
        Number of vectors in a block, which are summed side by side.
    context : SumContext
    """
    precision, low_parts = context.precision, context.low_parts
    groups, mixed_signs = summed_groups(machine, lanes)
    ends = np.cumsum([-(-len(group.vectors) // lanes) for group in groups])
    if ends[-1] > _MAX_BLOCKS:
        raise InputError(
            f"{machine.n_support_vectors} support vectors are more than {_MAX_BLOCKS * lanes}, "
            f"the largest number that the tables can index; train with fewer"
        )
    if machine.n_decisions > _MAX_BLOCKS:
        raise InputError(
            f"{machine.n_classes} classes have {machine.n_decisions} pairs, must be at most "
            f"{_MAX_BLOCKS}; train with fewer classes"
        )
    vectors = stored(machine.support_vectors, precision, low_parts)
    order, coefficients = _blocks(groups, lanes, precision, low_parts)
    summation = _summation(groups, lanes, len(order))
    constants = sum_constants(machine, vectors, summation, context)
    return ExactSum(
        **constants,
        n_vectors=machine.n_support_vectors,
        vectors=np.ascontiguousarray(
            vectors[order].reshape(-1, lanes, vectors.shape[1]).transpose(0, 2, 1)
        ),
        coefficients=coefficients,
        group_ends=ends,
        group_decisions=np.array([group.decisions for group in groups]),
        skip_zeros=context.skip_zeros,
        mixed_signs=mixed_signs,
        squares=(
            squares(vectors)[order].reshape(-1, lanes)
            if context.skip_zeros and constants["kernel"].uses_distance
            else np.zeros((0, 0), dtype=precision.dtype)
        ),
        reduced=None,
    )


def summed_groups(machine: KernelMachine, lanes: int) -> tuple[list[SignGroup], bool]:
    """Return the groups in the order of the sum, and whether they have mixed signs."""
    groups, mixed_signs = vector_groups(machine, lanes)
    return [part for group in groups for part in _parts(group, lanes)], mixed_signs


def _parts(group: SignGroup, lanes: int) -> list[SignGroup]:
    """Return a group of many blocks in parts, whose totals are added with compensation.

    A product then takes part in the additions of its part, not in one for each block.
    """
    n = len(group.vectors)
    if n <= _FEW_BLOCKS * lanes:
        return [group]
    width = _PART_BLOCKS * lanes
    return [
        SignGroup(group.vectors[part], group.rows[:, part], group.decisions)
        for part in (slice(start, start + width) for start in range(0, n, width))
    ]


def _summation(groups: list[SignGroup], lanes: int, n_slots: int) -> Summation:
    most_blocks = max(-(-len(group.vectors) // lanes) for group in groups)
    of_decision = Counter(p for group in groups for p in group.decisions)
    most_groups = max(of_decision.values())
    compensates = most_groups > MOST_PLAIN
    return Summation(
        # A product takes part in the additions of its block, of its group and of its decision.
        on_the_way=1 + (lanes - 1) + most_blocks + (1 if compensates else most_groups),
        longest=most_blocks + lanes + most_groups,
        n_products=n_slots,
        n_compensated=most_groups if compensates else 0,
    )


def vector_groups(machine: KernelMachine, lanes: int) -> tuple[list[SignGroup], bool]:
    """Return the groups of the vectors, and whether groups have mixed signs.

    In a group of one sign the sum of errors needs no magnitude of each coefficient. If every vector
    has coefficients of both signs, as with a feature map before a linear machine or in a reduced
    machine, there are so many groups that their blocks are nearly empty. Then all vectors of a
    class, or in one-vs-rest all vectors, form one group, if this saves a quarter of the work. In a
    reduced machine any saving counts, because blocks that are not full waste its flash, too.
    """
    signed, mixed = sign_groups(machine), mixed_groups(machine)
    if machine.n_decisions == 1:
        return signed, False
    width = machine.support_vectors.shape[1]
    least = 0.75 if machine.reduced_from is None else 1.0
    if _work(mixed, lanes, width, 3) >= least * _work(signed, lanes, width, 2):
        return signed, False
    return mixed, True


def integer_groups(machine: KernelMachine, lanes: int) -> list[SignGroup]:
    """Return the groups of the vectors for sums of unsigned coefficients.

    Where a reduced machine's vectors have coefficients of both signs, each row of a group stands
    twice if this saves a quarter of the work: its positive coefficients, then its negative ones.
    Any other machine may have a replay, which reads one row a decision.
    """
    signed = sign_groups(machine)
    twice = [
        SignGroup(
            group.vectors,
            np.concatenate([np.maximum(group.rows, 0.0), np.minimum(group.rows, 0.0)]),
            group.decisions * 2,
        )
        for group in mixed_groups(machine)
    ]
    width = machine.support_vectors.shape[1]
    pays = 4 * _work(twice, lanes, width, 2) < 3 * _work(signed, lanes, width, 2)
    return twice if pays and machine.reduced_from is not None else signed


def _work(groups: list[SignGroup], lanes: int, width: int, each: int) -> int:
    """Return about the operations of groups: a distance, and `each` for a coefficient."""
    return sum(
        -(-len(group.vectors) // lanes) * lanes * (width + each * len(group.rows))
        for group in groups
    )


def mixed_groups(machine: KernelMachine) -> list[SignGroup]:
    """Return the vectors by class; in all but one-vs-one they are one group."""
    if machine.task is Task.ONE_VS_ONE:
        counts, decisions = machine.class_counts, _pairs_of_classes(machine.n_classes)
    else:
        counts = (machine.n_support_vectors,)
        decisions = [tuple(range(machine.n_decisions))]
    ends = np.cumsum(counts)
    return [
        SignGroup(np.arange(end - count, end), machine.dual_coef[:, end - count : end], own)
        for count, end, own in zip(counts, ends, decisions, strict=True)
        if count
    ]


def sign_groups(machine: KernelMachine) -> list[SignGroup]:
    """Return the vectors by class, and within a class by the signs of their coefficients."""
    return [
        SignGroup(group.vectors[part], group.rows[:, part], group.decisions)
        for group in mixed_groups(machine)
        for part in _by_sign(group.rows)
    ]


def _by_sign(rows: Float64Array) -> list[np.ndarray]:
    """Return index sets of columns within which each row has one sign; 0 fits either sign."""
    kinds, first, owner = np.unique(np.sign(rows), axis=1, return_index=True, return_inverse=True)
    parts: list[tuple[np.ndarray, list[int]]] = []
    for kind in np.argsort(first):
        signs = kinds[:, kind]
        for seen, members in parts:
            if np.all(seen * signs >= 0):
                seen[seen == 0] = signs[seen == 0]
                members.append(kind)
                break
        else:
            parts.append((signs.copy(), [kind]))
    return [np.flatnonzero(np.isin(owner.reshape(-1), members)) for _, members in parts]


def _pairs_of_classes(n_classes: int) -> list[tuple[int, ...]]:
    """Return for each class the decision of each of its coefficient rows in LIBSVM's layout."""
    pair: dict[tuple[int, int], int] = {}
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            pair[i, j] = pair[j, i] = len(pair) // 2
    return [
        tuple(pair[c, other] for other in range(n_classes) if other != c) for c in range(n_classes)
    ]


def _blocks(
    groups: list[SignGroup], lanes: int, precision: Precision, low_parts: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Return the order of the vectors with padding, and the blocks of coefficients."""
    order, blocks = [], []
    for group in groups:
        n_blocks = -(-len(group.vectors) // lanes)
        padding = n_blocks * lanes - len(group.vectors)
        order.append(np.concatenate([group.vectors, np.repeat(group.vectors[-1:], padding)]))
        rows = np.pad(stored(group.rows, precision, low_parts), ((0, 0), (0, padding)))
        blocks.append(rows.reshape(len(rows), n_blocks, lanes).transpose(1, 0, 2))
    return np.concatenate(order), np.ascontiguousarray(np.concatenate(blocks))
