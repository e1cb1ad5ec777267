"""Fit local expansions: a tree of centres by k-means -> stages with constants that hold in C."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from sklearn.cluster import KMeans

from kmcompile.calibrate.chooser import Room
from kmcompile.certify.folded_constants import curved_rows, linear_rows, relative_error
from kmcompile.certify.local_expansion import (
    LARGEST_EXPONENT,
    LocalExpansion,
    Vectors,
    expand,
)
from kmcompile.ir.arrays import Float32Array, Float64Array
from kmcompile.ir.batch import Batch
from kmcompile.ir.kernel_machine import KernelMachine, Task
from kmcompile.ir.program import Program
from kmcompile.kernels import Rbf
from kmcompile.passes.sum_linear import decision_coefficients
from kmcompile.stages import ExactSum, FoldedWeights
from kmcompile.verify.reference import evaluate

_SHAPES = ((1, 4, 4, 4), (1, 8, 8))
_BASES = (8, 16)
_LEAST_FLASH_BYTES = 10_000
"""Centres may take this much even if the exact sum's tables are smaller."""

_MOST_WORK = 2e11
"""Multiply-adds of the norms of all expansions of a tree, about: a minute."""

_ORDERS = 12
_SEED = 20010628


@dataclass(frozen=True, slots=True, eq=False)
class Centre:
    """A centre of the tree.

    Parameters
    ----------
    expansion : LocalExpansion
    decisions : ndarray of shape (n_rows,), int64
    radius : float
        The largest |x - c| that its bounds hold for.
    n_samples : int
    square : float
        A typical |x - c|^2.
    """

    expansion: LocalExpansion
    decisions: np.ndarray
    radius: float
    n_samples: int
    square: float


def supports(machine: KernelMachine, program: Program) -> bool:
    """Return whether there are local expansions of a machine: its kernel is rbf."""
    return isinstance(machine.kernel, Rbf) and isinstance(program.ends.exact, ExactSum)


def fit_folded_weights(
    machine: KernelMachine, program: Program, X: Float32Array, room: Room
) -> list[tuple[FoldedWeights, str]]:
    """Return stages of several shapes that fit into the room, each with a text.

    Parameters
    ----------
    machine : KernelMachine
        After the passes.
    program : Program
        The exact one.
    X : ndarray of shape (n_samples, n_features), float32
        Accepted samples: the centres are means of some.
    room : Room
    """
    if not supports(machine, program):
        return []
    samples = program.prepare.run(Batch.of(X, program.n_decisions)).x.astype(np.float64)
    labels = evaluate(machine, X).labels
    n_basis = [0, *(r for r in _BASES if r <= samples.shape[1])]
    found: dict[str, FoldedWeights] = {}
    for shape in _SHAPES:
        levels = tree(machine, samples, labels, _affordable(shape, machine, program, room))
        for r in n_basis:
            for stage in _stages(machine, program, levels, shape, r):
                text = "x".join(str(n) for n in stage.branches.tolist())
                basis = f", curved along {r}" if r else ""
                if _fits(stage, program, room):
                    found.setdefault(f"folded_weights({text} centres{basis})", stage)
    return [(stage, text) for text, stage in found.items()]


def _flash_bytes(program: Program, room: Room) -> float:
    tables = max(_LEAST_FLASH_BYTES, sum(t.n_bytes for t in program.ends.exact.tables()))
    return tables if room.flash_bytes is None else min(tables, room.flash_bytes)


def _fits(stage: FoldedWeights, program: Program, room: Room) -> bool:
    flash = sum(table.n_bytes for table in stage.tables())
    worst = stage.worst_operations(program.ends)
    return flash <= _flash_bytes(program, room) and worst <= room.operations


def _affordable(
    shape: tuple[int, ...], machine: KernelMachine, program: Program, room: Room
) -> tuple[int, ...]:
    """Return the first levels of a shape whose last one may fit and can be worked out."""
    n_rows = _n_rows(machine)
    m, n = machine.support_vectors.shape
    centre_bytes = 4 * (n + n_rows * (n + 8))
    work = _ORDERS * m * m * (n_rows * n + n)
    most = min(_flash_bytes(program, room) / centre_bytes, _MOST_WORK / work)
    levels = 1
    while levels < len(shape) and np.prod(shape[: levels + 1]) <= most:
        levels += 1
    return shape[:levels]


def _n_rows(machine: KernelMachine) -> int:
    return machine.n_classes - 1 if machine.task is Task.ONE_VS_ONE else machine.n_decisions


def tree(
    machine: KernelMachine, samples: Float64Array, labels: np.ndarray, shape: tuple[int, ...]
) -> list[list[Centre]]:
    """Return the centres of each level: nested k-means of the samples."""
    assert isinstance(machine.kernel, Rbf)
    vectors = Vectors(
        machine.kernel.gamma, machine.support_vectors, decision_coefficients(machine)
    )
    cells = [np.arange(len(samples))]
    levels = []
    for branches in shape:
        parts = [part for cell in cells for part in _split(samples, cell, branches)]
        cells = [cell for _, cell in parts]
        levels.append(
            [_centre(machine, vectors, mean, samples[cell], labels[cell]) for mean, cell in parts]
        )
    return levels


def _split(
    samples: Float64Array, cell: np.ndarray, branches: int
) -> Iterator[tuple[Float64Array, np.ndarray]]:
    """Yield the mean of each part of a cell with its samples; some are alike where these are few."""
    inner = samples[cell]
    n = min(branches, len(np.unique(inner, axis=0)))
    means = KMeans(n, n_init=1, random_state=_SEED).fit(inner).cluster_centers_
    means = means[np.arange(branches) % n].astype(np.float32).astype(np.float64)
    distance = ((inner[:, None] - means) ** 2).sum(axis=2)
    own = distance[:, :n].argmin(axis=1)
    for part in range(branches):
        yield means[part], cell[own == part % n]


def _centre(
    machine: KernelMachine,
    vectors: Vectors,
    mean: Float64Array,
    samples: Float64Array,
    labels: np.ndarray,
) -> Centre:
    """Return a centre with the radius within which most of its samples are decided."""
    decisions = _decisions(machine, labels)
    distance = np.sqrt(((samples - mean) ** 2).sum(axis=1))
    widest = np.sqrt(LARGEST_EXPONENT / (2 * vectors.gamma))
    at_least = 0.3 * widest if len(samples) < 4 else 0.0
    reach = min(widest, max(1.25 * distance.max(), at_least)) * (1 - 1e-6)
    expansion = expand(vectors, decisions, mean, max(reach, 1e-6 * widest))
    inner = 1.05 * np.quantile(distance, (1.0, 0.95, 0.85, 0.7, 0.5))
    radii = [expansion.radius, *inner[(inner > 0) & (inner < expansion.radius)]]
    intercept = machine.intercept[decisions]
    counts = [_n_decided(expansion, intercept, samples, radius) for radius in radii]
    return Centre(
        expansion,
        decisions,
        float(radii[int(np.argmax(counts))]),
        len(samples),
        float(np.median(distance) ** 2),
    )


def _decisions(machine: KernelMachine, labels: np.ndarray) -> np.ndarray:
    """Return the decisions that prove the label most frequent among some."""
    if machine.task is not Task.ONE_VS_ONE:
        return np.arange(machine.n_decisions)
    winner = int(np.bincount(labels, minlength=machine.n_classes).argmax())
    pairs = [(i, j) for i in range(machine.n_classes) for j in range(i + 1, machine.n_classes)]
    return np.array([p for p, pair in enumerate(pairs) if winner in pair])


def _n_decided(
    e: LocalExpansion, intercept: Float64Array, samples: Float64Array, radius: float
) -> int:
    """Return how many samples the linear form has all signs of, up to a radius."""
    v = samples - e.centre
    square = (v**2).sum(axis=1)
    near = square <= radius**2
    v, square = v[near], square[near, None]
    values = np.linalg.eigvalsh(e.quadratic)
    middle, half = (values[:, 0] + values[:, -1]) / 2, (values[:, -1] - values[:, 0]) / 2
    h = e.constant + v @ e.linear.T + middle * square
    error = square * (half + np.sqrt(square) * e.norms[:, 0] + square * e.beyond_third(radius))
    a = np.exp(-e.gamma * square)
    return int((np.abs(intercept + a * h) > a * error).all(axis=1).sum())


def _stages(
    machine: KernelMachine,
    program: Program,
    levels: list[list[Centre]],
    shape: tuple[int, ...],
    n_basis: int,
) -> Iterator[FoldedWeights]:
    """Yield the stages of some levels of a tree in a row: the first one's centres all together."""
    for last in range(len(levels)):
        basis = _basis(levels[last], n_basis)
        for first in range(last + 1):
            branches = (int(np.prod(shape[: first + 1])), *shape[first + 1 : last + 1])
            yield lower_folded_weights(machine, program, branches, levels[first : last + 1], basis)


def _basis(centres: list[Centre], n: int) -> Float32Array:
    """Return the directions in which the second and third orders are largest, n rows."""
    total = 0.0
    for centre in centres:
        e, square = centre.expansion, centre.square
        weight = centre.n_samples * np.exp(-2 * e.gamma * square)
        second = (e.quadratic @ e.quadratic).sum(axis=0)
        total = total + weight * (second * square**2 + e.third.sum(axis=0) * square**3)
    directions = np.linalg.eigh(total)[1][:, ::-1]
    # A fixed sign, whichever LAPACK has.
    sign = np.sign(directions[np.abs(directions).argmax(axis=0), np.arange(len(directions))])
    return np.ascontiguousarray((directions * sign).T[:n].astype(np.float32))


def lower_folded_weights(
    machine: KernelMachine,
    program: Program,
    branches: tuple[int, ...],
    levels: list[list[Centre]],
    basis: Float32Array,
) -> FoldedWeights:
    """Return the stage of some levels of centres.

    Parameters
    ----------
    branches : tuple of int
        Children of each centre, of each level.
    levels : list of list of Centre
    basis : ndarray of shape (n_basis, n_features), float32
        Of the last level's curved test; no rows: there is none.
    """
    assert isinstance(machine.kernel, Rbf)
    centres = [centre for level in levels for centre in level]
    exact = program.ends.exact
    storage = np.abs(machine.intercept - exact.intercept)
    linear = [linear_rows(c.expansion, c.radius, storage[c.decisions]) for c in centres]
    r, n_rows = len(basis), len(centres[0].decisions)
    forms = np.zeros((0, n_rows, 3, r * (r + 1) // 2))
    curved = np.zeros((0, n_rows, 8))
    if r:
        rows = [
            curved_rows(c.expansion, c.radius, storage[c.decisions], basis) for c in levels[-1]
        ]
        forms, curved = (np.stack(parts) for parts in zip(*rows, strict=True))
    errors = relative_error(machine.kernel.gamma, machine.support_vectors.shape[1])
    return FoldedWeights(
        branches=np.array(branches),
        centres=np.stack([c.expansion.centre for c in centres]),
        radius=np.nextafter(np.float32([c.radius for c in centres]), np.float32(0)),
        decisions=np.stack([c.decisions for c in centres]),
        weights=np.stack([weights for weights, _ in linear]),
        constants=np.stack([constants for _, constants in linear]),
        basis=basis,
        forms=forms,
        curved=curved,
        **errors,
    )
