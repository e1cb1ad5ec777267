"""Offer bound sequences of support vectors and of free vectors, in several lengths."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.certified.bound_sequence import lower_bound_sequence
from kmcompile.exits.certified.many_vectors import most_operations
from kmcompile.exits.certified.offers import Asked, Offer
from kmcompile.exits.certified.sequence_normals import Squares
from kmcompile.exits.certified.vectors.greedy import greedy_vectors
from kmcompile.exits.certified.vectors.refined import refined_lists
from kmcompile.model.coefficients import relevant_decisions
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.normals import Normals
from kmcompile.model.reference import labels_of
from kmcompile.numeric.arrays import Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.stages import BoundSequence
from kmcompile.program.stages.ends import Ends

_MOST_Z = 128
_Z_SHARE = 0.2
"""Most support vectors in a sequence, as a share of all of them: more of them cost more than the
worst case may."""

_ASKED_SHARE = 0.6
"""The same where the sequence must be there and the worst case has no limit: it may then decide
all queries, where few vectors decide none [measured: rbf on digits 0 and 1 of mnist, 182 support
vectors: 48 of them decide none, 84 decide 96 %, 108 all]."""

_EIGHTHS = (1, 2, 3, 4, 6, 8)
"""Lengths of sequences of support vectors, as eighths of the longest."""

_FREE_LENGTHS = (8, 16, 32, 64)
"""Lengths of the lists of free vectors: each list is refined for its own length."""

_LONGER = 1.2
"""Least ratio of the longest list to the one before it."""

_MOST_OPERATIONS = 6e10
"""Most multiply-adds of the search for free vectors: about twenty seconds."""


def offer_bound_sequences(asked: Asked) -> list[Offer]:
    """Return bound sequences of support vectors and of free vectors, each in several lengths."""
    machine, program = asked.machine, asked.program
    most = most_operations(machine, "bound_sequence")
    budget = asked.budgets.of("bound_sequence", most)
    if not budget.allows(operations=_operations(machine)):
        budget.left_out()
        return []
    budget.tell("choosing support vectors")
    normals = Normals.of(machine)
    must = "bound_sequence" in asked.room.stages.needed
    usual = _most(machine, _Z_SHARE)
    n = _most(machine, _ASKED_SHARE) if must else usual
    vectors = greedy_vectors(normals, n)
    squares = Squares.of(machine)
    longest = lower_bound_sequence(machine, program, vectors, squares)
    longest = longest or lower_bound_sequence(machine, program, vectors[:usual], squares)
    if longest is None:
        return []
    n_blocks = min(-(-usual // longest.lanes), longest.n_blocks)
    sizes = _sizes(longest.n_blocks, _EIGHTHS) | _sizes(n_blocks, _EIGHTHS)
    offers = _prefixes(longest, sizes, "support vectors")
    for sequence in _free_sequences(asked, normals, longest, squares):
        n_all = sequence.n_blocks * sequence.lanes
        sizes = _sizes(sequence.n_blocks, (4, 6, 8))
        offers += _prefixes(sequence, sizes, f"of {n_all} free vectors")
    return offers


def _most(machine: KernelMachine, share: float) -> int:
    """Return the most support vectors of a sequence, given the largest share of all of them."""
    return min(_MOST_Z, int(share * machine.n_support_vectors))


def _sizes(n_blocks: int, eighths: tuple[int, ...]) -> set[int]:
    """Return some eighths of a number of blocks, rounded up."""
    return {-(-n_blocks * share // 8) for share in eighths}


def _prefixes(sequence: BoundSequence, sizes: set[int], kind: str) -> list[Offer]:
    return [
        (sequence.first(size), f"bound_sequence({size * sequence.lanes} {kind})")
        for size in sorted(sizes)
    ]


def _free_sequences(
    asked: Asked, normals: Normals, of_support_vectors: BoundSequence, squares: Squares
) -> Iterator[BoundSequence]:
    """Yield the sequences of free vectors that the room allows, each of another list.

    There are none for a kernel without a derivative: laplacian and chi2 have kinks, and for matern
    and rational_quadratic none is written.
    """
    machine, program = asked.machine, asked.program
    if not machine.kernel.has_gradient:
        return
    lengths = free_lengths(of_support_vectors, program.ends, asked.room.operations)
    name = "bound_sequence of free vectors"
    most = min(_MOST_OPERATIONS, most_operations(machine, name))
    budget = asked.budgets.of(name, most)
    x = program.prepare.run(Batch.of(asked.X, program.n_decisions)).x.astype(np.float64)

    def relevant(f: Float64Array) -> NDArray[np.bool_]:
        return relevant_decisions(machine, labels_of(machine, f))

    for vectors in refined_lists(normals, machine.intercept, x, lengths, budget, relevant):
        sequence = lower_bound_sequence(machine, program, vectors, squares)
        if sequence is not None:
            yield sequence


def free_lengths(sequence: BoundSequence, ends: Ends, operations: float) -> tuple[int, ...]:
    """Return the lengths of the lists of free vectors whose worst case fits the room.

    The longest list that fits is one of them, unless it is hardly longer than the one before.

    Parameters
    ----------
    sequence : BoundSequence
        A sequence of support vectors, whose blocks cost as much as blocks of free vectors.
    ends : Ends
    operations : float
        Most weighted operations of a query that no test decides.
    """
    weight, lanes = ends.weight(sequence), sequence.lanes
    n_blocks = 0
    while (n_blocks + 1) * lanes <= _FREE_LENGTHS[-1] and (
        weight * sequence.worst_of_blocks(n_blocks + 1, ends) <= operations
    ):
        n_blocks += 1
    most = n_blocks * lanes
    lengths = [n for n in _FREE_LENGTHS if n <= most]
    if most > (_LONGER * lengths[-1] if lengths else 0):
        lengths.append(most)
    return tuple(lengths)


def _operations(machine: KernelMachine) -> float:
    """Return the multiply-adds of all products of support vectors, weighted by their time.

    A product of a kernel goes through memory, and the products of the decisions are computed in
    extended precision. Both take longer than a plain multiply-add.
    """
    m, n = machine.support_vectors.shape
    return float(m * m * (10 * n + 30 * machine.n_decisions))
