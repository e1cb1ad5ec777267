"""Fit local expansions: from a tree of centres to stages with constants that hold in the C."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified.expansion_constants import bend_of, curved_rows, reach_constants
from kmcompile.exits.certified.expansion_norms import N_SQUARES
from kmcompile.exits.certified.expansion_size import EIGENVALUE_OPERATIONS, Size
from kmcompile.exits.certified.expansion_tree import Centre, tree
from kmcompile.exits.certified.known_expansions import Known
from kmcompile.exits.certified.likely_labels import n_rows, worthwhile
from kmcompile.exits.certified.offers import Asked, Offer
from kmcompile.kernels import Rbf
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum, FixedSum, LocalExpansion
from kmcompile.program.stages.local_expansion import N_CONSTANTS, N_CURVED

_SHAPES = ((1, 4, 4, 4), (1, 8, 8))
_BASES = (4, 6, 8, 12, 16)
_WHOLE_BASIS = 32
"""Most features of which all may be the basis: the curved test then has no part across it."""

_MOST_NORMS = 2e11
"""Most multiply-adds for the norms of a tree's last level: about a minute."""

_ORDERS = 12
"""Typical number of orders of an expansion."""

_LEAST_GAMMA = 2.0**-22
"""Smallest gamma; the largest is 2^22. Forty powers of such a gamma are far from the ends of
float64's range."""


def why_not(machine: KernelMachine, program: Program) -> str:
    """Return why a machine cannot have local expansions; "" if it can.

    It needs an rbf kernel with an ordinary gamma: the terms of an expansion contain gamma^40, which
    must not overflow float64.
    """
    kernel = machine.kernel
    if not isinstance(kernel, Rbf):
        return f"its expansions are of the rbf kernel, not of {kernel.name}"
    if not isinstance(program.ends.exact, ExactSum | FixedSum):
        return "its expansions are of a sum over vectors"
    if not ordinary_gamma(kernel):
        return f"gamma = {kernel.gamma:g} is too far from 1 for its powers"
    return ""


def ordinary_gamma(kernel: Rbf) -> bool:
    """Return whether forty powers of gamma are far from the ends of float64's range."""
    return _LEAST_GAMMA <= kernel.gamma <= 1 / _LEAST_GAMMA


def supports(machine: KernelMachine, program: Program) -> bool:
    """Return whether a machine can have local expansions: an rbf kernel with an ordinary gamma."""
    return not why_not(machine, program)


def fit_local_expansion(
    machine: KernelMachine,
    program: Program,
    X: Float32Array,
    room: Room,
    budget: SearchBudget | None = None,
) -> list[tuple[LocalExpansion, str]]:
    """Return stages of several shapes that fit into the room, each with a text.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes of `kmcompile.passes`.
    program : Program
        The exact program, without early exits.
    X : ndarray of shape (n_samples, n_features), float32
        Samples that the C accepts: each centre is the mean of some of them.
    room : Room
    budget : SearchBudget, optional
    """
    if not supports(machine, program):
        return []
    samples = program.prepare.run(Batch.of(X, program.n_decisions)).x.astype(np.float64)
    labels = evaluate(machine, X).labels
    budget = budget or SearchBudget("local_expansion")
    found: dict[str, LocalExpansion] = {}
    seen: set[tuple[tuple[int, ...], int]] = set()
    for shape, part in zip(_SHAPES, budget.split(len(_SHAPES)), strict=True):
        searches, known = [1], Known()
        for n_labels in searches:
            own = affordable(shape, machine, program, room, part, n_labels)
            if not own or (own, n_labels) in seen:
                continue
            seen.add((own, n_labels))
            known.keep(len(own))
            levels = tree(machine, program, samples, labels, own, budget.tell, n_labels, known)
            beside = f", {n_labels} labels each" if n_labels > 1 else ""
            for stage, text in _fitting(machine, program, room, levels, own, budget.tell, known):
                found.setdefault(f"local_expansion({text}{beside})", stage)
            if n_labels == 1:
                searches += worthwhile(machine, (centre.likely.counts for centre in levels[-1]))
            del levels  # before the next stages are made
    return [(stage, text) for text, stage in found.items()]


def _fitting(
    machine: KernelMachine,
    program: Program,
    room: Room,
    levels: list[list[Centre]],
    shape: tuple[int, ...],
    tell: Callable[[str], None],
    known: Known,
) -> Iterator[tuple[LocalExpansion, str]]:
    """Yield the stages of a tree that fit into the room, each with a text."""
    axes = [known.axes(_centres(level), partial(_axes, level)) for level in levels]
    n_basis = _basis_sizes(axes[0].shape[1])
    for number, (r, last) in enumerate(itertools.product(n_basis, range(len(levels))), start=1):
        tell(f"bounding curvatures, {number} of {len(n_basis) * len(levels)}")
        if _form_bytes(levels[last], r) > room.table_bytes_of(program):
            continue
        bend = _no_curvature(levels[last], axes[last][:r])
        fitting = [
            first
            for first, made in enumerate(_stages(machine, levels[: last + 1], shape, bend))
            if _fits(with_intercept(made, program), program, room)
        ]
        if r and fitting:  # most of the time goes into what a stage that does not fit needs not
            bend = curvature(levels[last], r, axes[last], known)
        stages = list(_stages(machine, levels[: last + 1], shape, bend))
        for first in fitting:
            stage = with_intercept(stages[first], program)
            text = "x".join(str(n) for n in stage.branches.tolist())
            yield stage, f"{text} centres" + (f", curved along {r}" if r else "")


def _basis_sizes(n_features: int) -> list[int]:
    """Return the numbers of directions of the curved test, 0 for no such test, increasing."""
    sizes = {0, *(r for r in _BASES if r <= n_features)}
    return sorted(sizes | ({n_features} if n_features <= _WHOLE_BASIS else set()))


def with_intercept(stage: LocalExpansion, program: Program) -> LocalExpansion:
    """Return the stage with its own float32 intercepts if the exact sum stores integer ones."""
    exact = program.ends.exact
    return replace(stage, intercept=exact.intercept) if isinstance(exact, FixedSum) else stage


def _fits(stage: LocalExpansion, program: Program, room: Room) -> bool:
    flash = sum(table.n_bytes for table in stage.tables())
    worst = stage.weighted_operations(program.ends)
    return flash <= room.table_bytes_of(program) and worst <= room.operations


def affordable(
    shape: tuple[int, ...],
    machine: KernelMachine,
    program: Program,
    room: Room,
    budget: SearchBudget,
    n_labels: int = 1,
) -> tuple[int, ...]:
    """Return as many levels of a shape as the budget allows and as may fit into the room.

    The rows of a centre are those of `n_labels` labels.
    """
    size = _size(machine, n_labels)
    n = size.n_features
    most = room.table_bytes_of(program) / (4 * (n + size.n_rows * (n + N_CONSTANTS)))
    levels = 1
    while levels < len(shape) and np.prod(shape[: levels + 1]) <= most:
        levels += 1
    wanted = _n_centres(shape[:levels])
    while levels:
        n_centres, n_leaves = _n_centres(shape[:levels]), int(np.prod(shape[:levels]))
        if n_leaves > 1 and n_leaves * _ORDERS * size.order_operations > _MOST_NORMS:
            budget.refuse(_MOST_NORMS)
        elif budget.allows(_bytes(size, n_centres), n_centres * _operations(size)):
            if n_centres < wanted:
                budget.ended(f"{n_centres} of {wanted} centres")
            return shape[:levels]
        levels -= 1
    if n_labels == 1:
        budget.left_out()
    else:
        budget.ended(f"{n_labels - 1} of {n_labels} labels a centre")
    return ()


def _n_centres(shape: tuple[int, ...]) -> int:
    return int(np.cumprod(shape).sum())


def _size(machine: KernelMachine, n_labels: int = 1) -> Size:
    n_vectors, n_features = machine.support_vectors.shape
    return Size(n_vectors, n_features, n_rows(machine, n_labels))


def _bytes(size: Size, n_centres: int) -> float:
    """Return the most bytes of a tree: all centres with their moments, and the work for one.

    The curvature of a centre takes about seven matrices, fewer than its expansion.
    """
    return n_centres * (size.kept_bytes + 8.0 * size.n_features**2) + size.work_bytes


def _operations(size: Size) -> float:
    """Return the multiply-adds of a centre: its expansion and its constants for every basis.

    Each basis takes five eigenvalue decompositions and five matrix products, the linear form three.
    """
    cube = float(size.n_features) ** 3
    constants = 5 * (len(_BASES) + 1) * (EIGENVALUE_OPERATIONS + 1) + 4 * EIGENVALUE_OPERATIONS
    return size.operations + size.n_rows * constants * cube


def _stages(
    machine: KernelMachine, levels: list[list[Centre]], shape: tuple[int, ...], bend: Curvature
) -> Iterator[LocalExpansion]:
    """Yield the stages that end with the last level, with all centres of another level as roots."""
    for first in range(len(levels)):
        branches = (int(np.prod(shape[: first + 1])), *shape[first + 1 : len(levels)])
        yield lower_local_expansion(machine, branches, levels[first:], bend)


def _form_bytes(centres: list[Centre], n_basis: int) -> float:
    """Return the flash of a level's forms along a basis."""
    n_own = len(centres[0].decisions)
    return 4.0 * 3 * len(centres) * n_own * (n_basis * (n_basis + 1) // 2)


@dataclass(frozen=True, slots=True, eq=False)
class Curvature:
    """The constants of the curved test, which the last level of a stage may have.

    Parameters
    ----------
    basis : ndarray of shape (n_basis, n_features), float32
    forms : ndarray of shape (n_leaves, n_rows, 3, n_basis (n_basis + 1) / 2), float32
    curved : ndarray of shape (n_leaves, n_rows, N_CURVED), float32
        With n_basis = 0, all arrays are empty: the stage has no curved test.
    """

    basis: Float32Array
    forms: Float32Array
    curved: Float32Array


def curvature(
    centres: list[Centre],
    n_basis: int,
    axes: Float32Array | None = None,
    known: Known | None = None,
) -> Curvature:
    """Return the curved test's constants for the centres of one level; `axes` are its `_axes`."""
    basis = (_axes(centres) if axes is None else axes)[:n_basis]
    if not n_basis:
        return _no_curvature(centres, basis)
    known, name = known or Known(), basis.tobytes()
    rows = []
    for c in centres:
        bends = [
            known.bend(c.expansion, p, name, partial(bend_of, c.expansion, row, basis, c.moments))
            for row, p in enumerate(c.decisions.tolist())
        ]
        rows.append(curved_rows(c.expansion, c.radius, c.storage, basis, bends))
    forms, curved = (np.stack(parts) for parts in zip(*rows, strict=True))
    return Curvature(basis, forms, curved)


def _centres(level: list[Centre]) -> Float64Array:
    return np.stack([centre.expansion.centre for centre in level])


def _no_curvature(centres: list[Centre], basis: Float32Array) -> Curvature:
    """Return constants of 0 of the shapes of those of `curvature`; none if the basis is empty."""
    n = len(basis)
    shape = (len(centres) if n else 0, len(centres[0].decisions))
    forms = np.zeros((*shape, 3, n * (n + 1) // 2), np.float32)
    return Curvature(basis, forms, np.zeros((*shape, N_CURVED), np.float32))


def _axes(centres: list[Centre]) -> Float32Array:
    """Return the directions along which the second and third orders are largest first, as rows."""
    total = 0.0
    for centre in centres:
        e, square = centre.expansion, float(np.trace(centre.moments))
        weight = centre.n_samples * np.exp(-2 * e.gamma * square)
        second = (e.quadratic @ e.quadratic).sum(axis=0)
        powers = square ** np.arange(3, 3 + N_SQUARES)[:, None, None]
        total = total + weight * (second * square**2 + (e.squares * powers).sum(axis=(0, 1)))
    directions = np.linalg.eigh(total)[1][:, ::-1]
    # A fixed sign: LAPACK versions differ in it.
    sign = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(len(directions))])
    return np.ascontiguousarray((directions * sign).T[:_WHOLE_BASIS].astype(np.float32))


def lower_local_expansion(
    machine: KernelMachine,
    branches: tuple[int, ...],
    levels: list[list[Centre]],
    bend: Curvature,
) -> LocalExpansion:
    """Return the stage with the given levels of centres.

    Parameters
    ----------
    branches : tuple of int
        Number of children of a centre, for each level.
    levels : list of list of Centre
    bend : Curvature
        Constants of the last level's curved test.
    """
    assert isinstance(machine.kernel, Rbf)
    centres = [centre for level in levels for centre in level]
    return LocalExpansion(
        branches=np.array(branches),
        centres=np.stack([c.expansion.centre for c in centres]),
        radius=np.nextafter(np.array([c.radius for c in centres], np.float32), np.float32(0)),
        decisions=np.stack([c.decisions for c in centres]),
        weights=np.stack([c.weights for c in centres]),
        constants=np.stack([c.constants for c in centres]),
        basis=bend.basis,
        forms=bend.forms,
        curved=bend.curved,
        intercept=np.zeros(0, dtype=np.float32),
        **reach_constants(machine.kernel.gamma, machine.support_vectors.shape[1]),
    )


def offer_local_expansion(asked: Asked) -> list[Offer]:
    """Return the local expansions that fit a machine and its room."""
    budget = asked.budgets.of("local_expansion")
    return [*fit_local_expansion(asked.machine, asked.program, asked.X, asked.room, budget)]
