"""What searches may take together for a machine of many vectors.

A search for a machine of few vectors has a budget of its own for each part of it.
"""

from __future__ import annotations

import math

from kmcompile.exits.certified.expansion import MOST_ORDER_OF_MANY
from kmcompile.exits.certified.expansion_moments import by_moments
from kmcompile.exits.certified.known_expansions import Known
from kmcompile.model.kernel_machine import KernelMachine

_MANY = 5000
"""Number of vectors above which a machine counts as one of many, if moments do not bound its
expansions."""

MOST_OPERATIONS = {
    "local_expansion": 2e11,
    "taylor_polynomial": 1e11,
    "bound_sequence": 1.5e11,
    "bound_sequence of free vectors": 3e10,
}
"""Most multiply-adds of a search: ten to twenty seconds."""


def has_many_vectors(machine: KernelMachine) -> bool:
    """Return whether searches have less than their usual budgets for a machine."""
    shape = machine.support_vectors.shape
    return shape[0] > _MANY or by_moments(*shape, MOST_ORDER_OF_MANY)


def most_operations(machine: KernelMachine, search: str) -> float:
    """Return the most multiply-adds of a search for a machine; no limit for few vectors."""
    return MOST_OPERATIONS[search] if has_many_vectors(machine) else math.inf


def known_of(
    shape: tuple[int, ...], machine: KernelMachine, of_shapes: dict[tuple[int, ...], Known] | None
) -> Known:
    """Return what earlier trees of a shape have made of many vectors; nothing of few."""
    if of_shapes is None or not has_many_vectors(machine):
        return Known()
    return of_shapes.setdefault(shape, Known())
