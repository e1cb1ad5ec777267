"""Fit local expansions: from a tree of centres to stages with constants that hold in the C."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from kmcompile.exits.candidates.room import Room
from kmcompile.exits.candidates.search_budget import SearchBudget
from kmcompile.exits.certified.expansion_size import EIGENVALUE_OPERATIONS, Size
from kmcompile.exits.certified.expansion_tree import Centre, tree
from kmcompile.exits.certified.known_expansions import Known
from kmcompile.exits.certified.likely_labels import n_rows, worthwhile
from kmcompile.exits.certified.lower_expansion import (
    WHOLE_BASIS,
    axes_of,
    curvature,
    form_bytes,
    no_curvature,
    stages_of,
)
from kmcompile.exits.certified.many_vectors import (
    has_many_vectors,
    known_of,
    most_operations,
)
from kmcompile.exits.certified.offers import Asked, Offer
from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.model.reference import evaluate
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.batch import Batch
from kmcompile.program.program import Program
from kmcompile.program.stages import FixedSum, LocalExpansion
from kmcompile.program.stages.early_exits.local_bounds import N_CONSTANTS
from kmcompile.program.stages.ends import Ends
from kmcompile.program.stages.sums.grouped_sum import GroupedSum

_SHAPES = ((1, 4, 4, 4), (1, 8, 8))
_BY_LABEL = (1, 16)
"""Another shape for one-vs-one, the tree of which tells samples of other labels apart."""
_BASES = (4, 6, 8, 12, 16)
_MOST_NORMS = 2e11
"""Most multiply-adds for the norms of a tree's last level: about a minute."""

_HOPELESS = 0.02
"""Share of the samples that the largest curved test of a level must decide for smaller ones to pay,
and of some level for other trees to [measured: 1 % on mnist, 10 % on digits of 8 x 8 pixels]."""

_MOST_TRIED = 400
"""Most samples on which that is measured."""

_ORDERS = 12
"""Typical number of orders of an expansion."""

_LEAST_GAMMA = 2.0**-22
"""Smallest gamma; the largest is 2^22. Forty powers of these are far from float64's ends."""


def why_not(machine: KernelMachine, program: Program) -> str:
    """Return why a machine cannot have local expansions; "" if it can.

    It needs an rbf kernel with an ordinary gamma: the terms of an expansion contain gamma^40, which
    must not overflow float64.
    """
    kernel = machine.kernel
    if not kernel.is_gaussian:
        return f"its expansions are of the rbf kernel, not of {kernel.name}"
    if not isinstance(program.ends.exact, GroupedSum):
        return "its expansions are of a sum over vectors"
    if not ordinary_gamma(kernel.gaussian_gamma):
        return f"gamma = {kernel.gaussian_gamma:g} is too far from 1 for its powers"
    return ""


def ordinary_gamma(gamma: float) -> bool:
    """Return whether forty powers of gamma are far from the ends of float64's range."""
    return _LEAST_GAMMA <= gamma <= 1 / _LEAST_GAMMA


def supports(machine: KernelMachine, program: Program) -> bool:
    """Return whether a machine can have local expansions: an rbf kernel with an ordinary gamma."""
    return not why_not(machine, program)


def fit_local_expansion(
    machine: KernelMachine,
    program: Program,
    X: Float32Array,
    room: Room,
    budget: SearchBudget | None = None,
    of_shapes: dict[tuple[int, ...], Known] | None = None,
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
    of_shapes : dict, optional
        `Asked.known`.
    """
    if not supports(machine, program):
        return []
    batch = program.prepare.run(Batch.of(X, program.n_decisions))
    samples, labels = batch.x.astype(np.float64), evaluate(machine, X).labels
    budget = budget or SearchBudget("local_expansion")
    some = np.arange(0, len(X), -(-len(X) // _MOST_TRIED))
    trial = _Trial(batch.chosen(some), program.ends, "local_expansion" in room.stages.needed)
    found, seen = dict[str, LocalExpansion](), set[tuple[tuple[int, ...], int]]()
    shapes = (*_SHAPES, *([_BY_LABEL] if machine.task is Task.ONE_VS_ONE else []))
    parts = budget.split(len(shapes))
    if has_many_vectors(machine):  # what a shape leaves is for the next ones
        parts = [budget] * len(shapes)
    for shape, part in zip(shapes, parts, strict=True):
        searches, known = [1], known_of(shape, machine, of_shapes)
        for n_labels in searches:
            own = affordable(shape, machine, program, room, part, n_labels)
            if not own or (own, n_labels) in seen:
                continue
            seen.add((own, n_labels))
            spend(own, machine, part, n_labels)
            known.keep(len(own))
            about = (machine, program, samples, labels, own)
            levels = tree(*about, budget.tell, n_labels, known, shape == _BY_LABEL)
            beside = f", {n_labels} labels each" if n_labels > 1 else ""
            fitted = _Fitted(machine, program, room, levels, own, known)
            for stage, text in _fitting(fitted, trial, budget.tell):
                found.setdefault(f"local_expansion({text}{beside})", stage)
            if not trial.is_worthwhile:
                return [(stage, text) for text, stage in found.items()]
            if n_labels == 1:
                searches += worthwhile(machine, (centre.likely.counts for centre in levels[-1]))
            del levels  # before the next stages are made
    return [(stage, text) for text, stage in found.items()]


@dataclass(slots=True, eq=False)
class _Trial:
    """What stages decide of some samples, which says whether others are worth their search.

    Parameters
    ----------
    batch : Batch
        Prepared samples.
    ends : Ends
    is_needed : bool
        Whether a stage must be there: all are then worth their search.
    is_worthwhile : bool
        Whether a stage that was tried decides enough.
    """

    batch: Batch
    ends: Ends
    is_needed: bool
    is_worthwhile: bool = False

    def decides(self, stage: LocalExpansion) -> bool:
        """Return whether a stage decides enough samples for smaller ones to be tried."""
        enough = self.is_needed or stage.decide(self.batch, self.ends)[1].mean() >= _HOPELESS
        self.is_worthwhile |= bool(enough)
        return bool(enough)


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """A tree with its number of children of a centre for each level, and what it is fitted to."""

    machine: KernelMachine
    program: Program
    room: Room
    levels: list[list[Centre]]
    shape: tuple[int, ...]
    known: Known

    def along(self, last: int, axes: Float32Array, r: int) -> Iterator[tuple[LocalExpansion, str]]:
        """Yield the stages that end with a level and fit into the room, curved along r axes."""
        levels, program = self.levels[: last + 1], self.program
        bend = no_curvature(levels[-1], axes[:r])
        fitting = [
            first
            for first, made in enumerate(stages_of(self.machine, levels, self.shape, bend))
            if _fits(with_intercept(made, program), program, self.room)
        ]
        if r and fitting:  # most of the time goes into what a stage that does not fit needs not
            bend = curvature(levels[-1], r, axes, self.known)
        stages = list(stages_of(self.machine, levels, self.shape, bend))
        for first in fitting:
            stage = with_intercept(stages[first], program)
            text = "x".join(str(n) for n in stage.branches.tolist())
            yield stage, f"{text} centres" + (f", curved along {r}" if r else "")


def _fitting(
    fitted: _Fitted, trial: _Trial, tell: Callable[[str], None]
) -> list[tuple[LocalExpansion, str]]:
    """Return the stages of a tree that fit into the room, each with a text, the largest last.

    The largest curved test of a level is made first: if it decides next to nothing, only the linear
    test of the level follows.
    """
    made: list[tuple[int, int, list[tuple[LocalExpansion, str]]]] = []
    for last, level in enumerate(fitted.levels):
        centres = np.stack([centre.expansion.centre for centre in level])
        axes = fitted.known.axes(centres, partial(axes_of, level))
        most = fitted.room.table_bytes_of(fitted.program)
        sizes = [r for r in _basis_sizes(axes.shape[1]) if form_bytes(level, r) <= most]
        tested, has_hope = False, True
        for r in reversed(sizes):
            if r and not has_hope:
                continue
            tell(f"bounding curvatures along {r} axes, level {last + 1} of {len(fitted.levels)}")
            found = list(fitted.along(last, axes, r))
            made.append((r, last, found))
            if found and not tested:
                tested, has_hope = True, trial.decides(found[-1][0])
    made.sort(key=lambda item: item[:2])
    return [offer for _, _, found in made for offer in found]


def _basis_sizes(n_features: int) -> list[int]:
    """Return the numbers of directions of the curved test, 0 for no such test, increasing."""
    sizes = {0, *(r for r in _BASES if r <= n_features)}
    return sorted(sizes | ({n_features} if n_features <= WHOLE_BASIS else set()))


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
        elif budget.allows(_bytes(size, n_centres), n_centres * _added(machine, n_labels)):
            if n_centres < wanted:
                budget.ended(f"{n_centres} of {wanted} centres")
            return shape[:levels]
        levels -= 1
    if n_labels == 1:
        budget.left_out()
    else:
        budget.ended(f"{n_labels - 1} of {n_labels} labels a centre")
    return ()


def spend(
    shape: tuple[int, ...], machine: KernelMachine, budget: SearchBudget, n_labels: int
) -> None:
    """Count the multiply-adds of a tree for a machine of many vectors."""
    if has_many_vectors(machine):
        budget.spend(_n_centres(shape) * _added(machine, n_labels))


def _added(machine: KernelMachine, n_labels: int) -> float:
    """Return the multiply-adds of a centre, beside those of its rows for one label less."""
    most = _operations(_size(machine, n_labels))
    if n_labels == 1 or not has_many_vectors(machine):
        return most
    return most - _operations(_size(machine, n_labels - 1))


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


def offer_local_expansion(asked: Asked) -> list[Offer]:
    """Return the local expansions that fit a machine and its room."""
    most = most_operations(asked.machine, "local_expansion")
    budget = asked.budgets.of("local_expansion", most)
    return [
        *fit_local_expansion(asked.machine, asked.program, asked.X, asked.room, budget, asked.known)
    ]
