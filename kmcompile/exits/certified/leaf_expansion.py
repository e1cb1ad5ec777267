"""Fit the expansions of a routed machine's leaves, each about a centre of its own."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified.expansion import Vectors
from kmcompile.exits.certified.expansion_constants import reach_constants
from kmcompile.exits.certified.expansion_size import Size
from kmcompile.exits.certified.expansion_tree import Centre, centre_of
from kmcompile.exits.certified.likely_labels import likely_labels
from kmcompile.exits.certified.local_expansion import ordinary_gamma
from kmcompile.exits.certified.lower_expansion import Curvature, curvature
from kmcompile.exits.certified.offers import Asked, Offer
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.leaves import leaf_intercepts, leaf_machines
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.numeric.rounding import UNIT_ROUNDOFF_64
from kmcompile.program.program import Program
from kmcompile.program.stages import LeafExpansion, RoutedSum
from kmcompile.program.stages.early_exits.local_bounds import N_CONSTANTS

_BASES = (0, 1, 2, 4, 6, 8, 12)
_ENOUGH_SAMPLES = 8
"""Samples of a leaf from which they alone place its centre; otherwise vectors help."""

_FLASH_SHARE = 0.5
"""Most flash of the expansions, as a multiple of that of the sum's tables."""


def why_not(machine: KernelMachine, program: Program) -> str:
    """Return why a machine cannot have expansions of leaves; "" if it can."""
    routing, kernel = machine.routing, machine.kernel
    if routing is None:
        return "it is for the leaves of routed machines"
    if not kernel.is_gaussian:
        return f"its expansions are of the rbf kernel, not of {kernel.name}"
    if not isinstance(program.ends.exact, RoutedSum):
        return f"it stands before a sum in float32, not in {program.number_format}"
    if routing.has_widths or routing.has_pairs or routing.has_weights:
        return "the leaves are more than sums of kernels of one gamma"
    if machine.task is Task.ONE_VS_ONE or machine.task is Task.REGRESSION:
        return f"it is not for a {machine.task.value} machine"
    if not ordinary_gamma(kernel.gaussian_gamma):
        return f"gamma = {kernel.gaussian_gamma:g} is too far from 1 for its powers"
    return ""


def offer_leaf_expansion(asked: Asked) -> list[Offer]:
    """Return stages with several numbers of directions of the curved test, each with a text."""
    machine, program, budget = asked.machine, asked.program, asked.budgets.of("leaf_expansion")
    centres = leaf_centres(machine, program, asked.X, budget)
    if not any(centres):
        return []
    most = _FLASH_SHARE * sum(table.n_bytes for table in program.ends.exact.tables())
    if asked.room.flash_bytes is not None:
        most = min(most, asked.room.flash_bytes)
    if "leaf_expansion" in asked.room.stages.needed:
        most = np.inf
    offers: list[Offer] = []
    for n_basis in _BASES:
        if n_basis > machine.support_vectors.shape[1]:
            continue
        budget.tell(f"bounding curvatures along {n_basis} directions")
        stage = lower_leaf_expansion(machine, centres, n_basis)
        if sum(table.n_bytes for table in stage.tables()) <= most:
            curved = f"({n_basis} directions)" if n_basis else ""
            offers.append((stage, f"leaf_expansion{curved}"))
    return offers


def leaf_centres(
    machine: KernelMachine, program: Program, X: Float32Array, budget: SearchBudget
) -> list[Centre | None]:
    """Return the expansion of each leaf; None of a leaf without vectors or likely inputs.

    A leaf's centre is the mean of the samples that walk to it. Where they are few, support vectors
    that walk to it count as samples.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32
        Samples that the C accepts; no proof depends on them.
    """
    routing, exact = machine.routing, program.ends.exact
    assert routing is not None
    assert isinstance(exact, RoutedSum)
    samples = program.prepare.run(Batch.of(X, program.n_decisions)).x.astype(np.float64)
    vectors = np.unique(machine.support_vectors, axis=0)
    of_samples, of_vectors = routing.walk(samples).leaf, routing.walk(vectors).leaf
    intercepts = leaf_intercepts(machine)
    storage = np.abs(intercepts - exact.intercepts) + 2 * UNIT_ROUNDOFF_64 * np.abs(intercepts)
    centres: list[Centre | None] = []
    for leaf, own in enumerate(leaf_machines(machine)):
        budget.tell(f"expanding leaf {leaf + 1} of {routing.n_leaves}")
        points = samples[of_samples == leaf]
        if len(points) < _ENOUGH_SAMPLES:
            points = np.concatenate([points, vectors[of_vectors == leaf]])
        if own is None or not len(points) or not _has_budget(own, budget):
            centres.append(None)
        else:
            centres.append(_expanded(own, points, storage[leaf]))
    return centres


def _has_budget(leaf: KernelMachine, budget: SearchBudget) -> bool:
    n_vectors, n_features = leaf.support_vectors.shape
    size = Size(n_vectors, n_features, leaf.n_decisions)
    allowed = budget.allows(size.kept_bytes + size.work_bytes, size.operations)
    if allowed:
        budget.spend(size.operations)
    else:
        budget.ended("some of the leaves")
    return allowed


def _expanded(leaf: KernelMachine, points: Float64Array, storage: Float64Array) -> Centre:
    vectors = Vectors(leaf.kernel.gaussian_gamma, leaf.support_vectors, leaf.dual_coef)
    mean = points.mean(axis=0).astype(np.float32).astype(np.float64)
    likely = likely_labels(leaf, np.zeros(len(points), dtype=np.int64))  # all decisions
    return centre_of(leaf, vectors, storage, mean, points, likely, None)


def lower_leaf_expansion(
    machine: KernelMachine, centres: Sequence[Centre | None], n_basis: int
) -> LeafExpansion:
    """Return the stage with so many directions of the curved test.

    Parameters
    ----------
    machine : KernelMachine
    centres : sequence of Centre or None
        Of each leaf; at least one is not None.
    n_basis : int
        0: no curved test.
    """
    n = machine.support_vectors.shape[1]
    rows = np.flatnonzero([centre is not None for centre in centres])
    made = [centre for centre in centres if centre is not None]
    n_leaves, n_rows = len(centres), len(made[0].decisions)
    bend = _bend([curvature([centre], n_basis) for centre in made], rows, n_leaves)
    radius = np.full(n_leaves, -1.0, dtype=np.float32)
    inner = np.array([centre.radius for centre in made], dtype=np.float32)
    radius[rows] = np.nextafter(inner, np.float32(0))

    def filled(parts: Sequence[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
        table = np.zeros((n_leaves, *shape), dtype=parts[0].dtype)
        table[rows] = parts
        return table

    return LeafExpansion(
        branches=np.array([n_leaves]),
        centres=filled([c.expansion.centre for c in made], (n,)),
        radius=radius,
        decisions=np.tile(made[0].decisions, (n_leaves, 1)),
        weights=filled([c.weights for c in made], (n_rows, n)),
        constants=filled([c.constants for c in made], (n_rows, N_CONSTANTS)),
        basis=bend.basis,
        forms=bend.forms,
        curved=bend.curved,
        intercept=np.zeros(0, dtype=np.float32),
        **reach_constants(machine.kernel.gaussian_gamma, n),
    )


def _bend(bends: Sequence[Curvature], rows: NDArray[np.intp], n_leaves: int) -> Curvature:
    """Return the constants of all leaves' curved tests, zeros for leaves without expansion."""
    n_basis, n = bends[0].basis.shape
    if n_basis == 0:
        return replace(bends[0], basis=np.zeros((1, 0, n), dtype=np.float32))

    def filled(parts: Float32Array) -> Float32Array:
        table = np.zeros((n_leaves, *parts.shape[1:]), dtype=np.float32)
        table[rows] = parts
        return table

    return Curvature(
        filled(np.stack([bend.basis for bend in bends])),
        filled(np.concatenate([bend.forms for bend in bends])),
        filled(np.concatenate([bend.curved for bend in bends])),
    )
