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
    "local_expansion": 3e11,
    "taylor_polynomial": 1e11,
    "bound_sequence": 1.2e11,
    "bound_sequence of free vectors": 3e10,
}
"""Most multiply-adds of a search: three to thirty seconds."""

_BY_MOMENTS = {"local_expansion": 7e10, "taylor_polynomial": 5e10}
"""Those of a search where moments bound the expansions. [measured: 50,000 vectors of 3 features and
4 classes take 352,893 operations in the mean; with 1e11, 336,892]"""


def has_many_vectors(machine: KernelMachine) -> bool:
    """Return whether searches have less than their usual budgets for a machine."""
    return machine.n_support_vectors > _MANY or _uses_moments(machine)


def _uses_moments(machine: KernelMachine) -> bool:
    n_vectors, n_features = machine.support_vectors.shape
    return by_moments(n_vectors, n_features, MOST_ORDER_OF_MANY)


def most_operations(machine: KernelMachine, search: str) -> float:
    """Return the most multiply-adds of a search for a machine; no limit for few vectors."""
    if not has_many_vectors(machine):
        return math.inf
    by_moments = _BY_MOMENTS if _uses_moments(machine) else {}
    return by_moments.get(search, MOST_OPERATIONS[search])


def known_of(
    shape: tuple[int, ...], machine: KernelMachine, of_shapes: dict[tuple[int, ...], Known] | None
) -> Known:
    """Return what earlier trees of a shape have made of many vectors; nothing of few."""
    if of_shapes is None or not has_many_vectors(machine):
        return Known()
    return of_shapes.setdefault(shape, Known())
