"""The leaves of a routed machine, each as a machine of its own, and a routed machine of leaves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.routing import Routing
from kmcompile.numeric.arrays import Float64Array


def leaf_machines(machine: KernelMachine) -> tuple[KernelMachine | None, ...]:
    """Return each leaf of a routed machine as a machine that answers every query by that leaf.

    A leaf without vectors is None. Preprocessing and classes are the routed machine's.

    Raises
    ------
    InputError
        If the vectors of one leaf have different gammas, leaves are more than sums of kernels, or
        vote among their own classes.
    """
    routing = machine.routing
    assert routing is not None
    if routing.has_pairs or routing.has_weights:
        raise InputError("the leaves have products of kernels or a linear part")
    if machine.task is Task.ONE_VS_ONE:
        raise InputError("the leaves vote among their own classes")
    intercepts = leaf_intercepts(machine)
    return tuple(
        _leaf(machine, routing, leaf, intercepts[leaf]) for leaf in range(routing.n_leaves)
    )


def has_leaf_machines(machine: KernelMachine) -> bool:
    """Return whether each leaf of a routed machine is a machine of its own."""
    try:
        leaf_machines(machine)
    except InputError:
        return False
    return True


def leaf_intercepts(machine: KernelMachine) -> Float64Array:
    """Return the intercepts of the leaves' decisions, shape (n_leaves, n_decisions)."""
    assert machine.routing is not None
    intercepts: Float64Array = machine.intercept + machine.routing.intercepts
    return intercepts


def _leaf(
    machine: KernelMachine, routing: Routing, leaf: int, intercept: Float64Array
) -> KernelMachine | None:
    own = routing.members(leaf)
    if own.start == own.stop:
        return None
    kernel, widths = machine.kernel, routing.relative_gamma[own]
    if (widths != widths[0]).any():
        raise InputError("the vectors of a leaf have different gammas")
    if widths[0] != 1.0:
        kernel = kernel.of_gamma_times(float(widths[0]))
    return replace(
        machine,
        kernel=kernel,
        support_vectors=machine.support_vectors[own],
        dual_coef=machine.dual_coef[:, own],
        intercept=intercept,
        reduced_from=None,
        routing=None,
    )


def with_leaves(
    machine: KernelMachine, leaves: Sequence[KernelMachine | Float64Array]
) -> KernelMachine:
    """Return the routed machine with other leaves.

    Parameters
    ----------
    machine : KernelMachine
        Vectors of one of its leaves have one gamma.
    leaves : sequence of KernelMachine or ndarray of shape (n_decisions,)
        In the place of each leaf, a machine as `leaf_machines` returns it, with the same kernel;
        or the decisions of a leaf without vectors. At least one leaf is a machine.
    """
    routing = machine.routing
    assert routing is not None
    of_vectors = [leaf for leaf in leaves if isinstance(leaf, KernelMachine)]
    sizes = [leaf.n_support_vectors if isinstance(leaf, KernelMachine) else 0 for leaf in leaves]
    intercepts = [leaf.intercept if isinstance(leaf, KernelMachine) else leaf for leaf in leaves]
    firsts = np.append(routing.relative_gamma, 1.0)[np.append(0, routing.leaf_ends[:-1])]
    return replace(
        machine,
        support_vectors=np.concatenate([leaf.support_vectors for leaf in of_vectors]),
        dual_coef=np.concatenate([leaf.dual_coef for leaf in of_vectors], axis=1),
        intercept=np.zeros(machine.n_decisions),
        routing=replace(
            routing,
            leaf_ends=np.cumsum(sizes),
            intercepts=np.array(intercepts),
            relative_gamma=np.repeat(firsts, sizes),
        ),
    )
