"""Lower trees of centres to local expansions: with linear forms, and with forms along a basis."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from kmcompile.exits.certified.expansion_constants import bend_of, curved_rows, reach_constants
from kmcompile.exits.certified.expansion_norms import N_SQUARES
from kmcompile.exits.certified.expansion_tree import Centre
from kmcompile.exits.certified.known_expansions import Known
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array
from kmcompile.numeric.factors import leading_axes
from kmcompile.program.stages import LocalExpansion
from kmcompile.program.stages.early_exits.local_bounds import N_CURVED

WHOLE_BASIS = 32
"""Most features of which all may be the basis: the curved test then has no part across it."""


def stages_of(
    machine: KernelMachine, levels: list[list[Centre]], shape: tuple[int, ...], bend: Curvature
) -> Iterator[LocalExpansion]:
    """Yield the stages that end with the last level, with all centres of another level as roots."""
    for first in range(len(levels)):
        branches = (int(np.prod(shape[: first + 1])), *shape[first + 1 : len(levels)])
        yield lower_local_expansion(machine, branches, levels[first:], bend)


def form_bytes(centres: list[Centre], n_basis: int) -> float:
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
    """Return the curved test's constants for the centres of one level; `axes` are its `axes_of`."""
    basis = (axes_of(centres) if axes is None else axes)[:n_basis]
    if not n_basis:
        return no_curvature(centres, basis)
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


def no_curvature(centres: list[Centre], basis: Float32Array) -> Curvature:
    """Return constants of 0 of the shapes of those of `curvature`; none if the basis is empty."""
    n = len(basis)
    shape = (len(centres) if n else 0, len(centres[0].decisions))
    forms = np.zeros((*shape, 3, n * (n + 1) // 2), np.float32)
    return Curvature(basis, forms, np.zeros((*shape, N_CURVED), np.float32))


def axes_of(centres: list[Centre]) -> Float32Array:
    """Return the directions along which the second and third orders are largest first, as rows."""
    total = 0.0
    for centre in centres:
        e, square = centre.expansion, float(np.trace(centre.moments))
        weight = centre.n_samples * np.exp(-2 * e.gamma * square)
        second = (e.quadratic @ e.quadratic).sum(axis=0)
        powers = square ** np.arange(3, 3 + N_SQUARES)[:, None, None]
        total = total + weight * (second * square**2 + (e.squares * powers).sum(axis=(0, 1)))
    return np.ascontiguousarray(leading_axes(np.asarray(total)).T[:WHOLE_BASIS].astype(np.float32))


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
        **reach_constants(machine.kernel.gaussian_gamma, machine.support_vectors.shape[1]),
    )
