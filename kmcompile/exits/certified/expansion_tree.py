"""Build a shallow tree of centres by nested k-means, with an expansion of the machine at each."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kmcompile.exits.certified.expansion import (
    LARGEST_EXPONENT,
    Expansion,
    Vectors,
    expand,
)
from kmcompile.exits.certified.expansion_constants import linear_rows
from kmcompile.exits.certified.known_expansions import Known, Part
from kmcompile.exits.certified.likely_labels import LikelyLabels, likely_labels
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.numeric.threads import one_thread
from kmcompile.program.program import Program
from kmcompile.program.stages import SumOfLeaves

_SEED = 20010628


@dataclass(frozen=True, slots=True, eq=False)
class Centre:
    """A centre of the tree with the machine's expansion about it.

    Parameters
    ----------
    expansion : Expansion
    likely : LikelyLabels
        The decisions that the rows of the expansion belong to, and what they prove.
    radius : float
        The largest |x - c| that its bounds hold for.
    n_samples : int
    storage : ndarray of shape (n_rows,), float64
        Rounding errors of the stored intercepts b.
    weights : ndarray of shape (n_rows, n_features), float64
    constants : ndarray of shape (n_rows, N_CONSTANTS), float32
        Constants of the linear form's error bound.
    moments : ndarray of shape (n_features, n_features), float64
        The mean of (x - c) (x - c)^T over the centre's samples, plus a multiple of the identity.
    """

    expansion: Expansion
    likely: LikelyLabels
    radius: float
    n_samples: int
    storage: Float64Array
    weights: Float64Array
    constants: Float32Array
    moments: Float64Array

    @property
    def decisions(self) -> NDArray[np.int64]:
        """The decisions that the rows of the expansion belong to, shape (n_rows,)."""
        return self.likely.decisions


def tree(
    machine: KernelMachine,
    program: Program,
    samples: Float64Array,
    labels: np.ndarray,
    shape: tuple[int, ...],
    tell: Callable[[str], None] = lambda text: None,
    n_labels: int = 1,
    known: Known | None = None,
    by_label: bool = False,
) -> list[list[Centre]]:
    """Return the centres of each level of the tree: nested k-means of the samples.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes, with an rbf kernel.
    program : Program
    samples : ndarray of shape (n_samples, n_prepared), float64
        Prepared.
    labels : ndarray of shape (n_samples,), int
        Labels that the machine gives to the samples.
    shape : tuple of int
        Number of children of a centre, for each level.
    tell : callable
        Called with a few words as each centre is begun.
    n_labels : int
        One-vs-one: how many labels a centre's rows may prove, the likeliest there.
    known : Known, optional
        What earlier trees about the same samples have made.
    by_label : bool
        Whether samples of other labels are told apart, so that more of a centre's samples have its
        likeliest label; they then lie less near to it.
    """
    known = known or Known()
    vectors = Vectors(
        machine.kernel.gaussian_gamma, machine.support_vectors, decision_coefficients(machine)
    )
    assert not isinstance(program.ends.exact, SumOfLeaves)
    storage = np.abs(machine.intercept - program.ends.exact.intercept) + machine.intercept_error
    tolerance = program.ends.label.tolerance
    sides = labels if by_label else np.zeros(len(samples), dtype=np.intp)
    cells = [np.arange(len(samples))]
    levels: list[list[Centre]] = []
    for branches in shape:
        parts = [part for cell in cells for part in _parts(samples, sides, cell, branches, known)]
        cells = [cell for _, cell in parts]
        level: list[Centre] = []
        for mean, cell in parts:
            number = sum(map(len, levels)) + len(level) + 1
            tell(f"expanding about centres, {number} of {int(np.cumprod(shape).sum())}")
            likely = likely_labels(machine, labels[cell], n_labels)
            expanded = partial(known.expansion, len(levels))
            level.append(
                centre_of(
                    machine, vectors, storage, mean, samples[cell], likely, tolerance, expanded
                )
            )
        levels.append(level)
    return levels


def _parts(
    samples: Float64Array,
    sides: np.ndarray,
    cell: NDArray[np.intp],
    branches: int,
    known: Known,
) -> list[Part]:
    """Return what `_split` yields."""
    return known.parts(cell, branches, lambda: list(_split(samples, sides, cell, branches)))


def _split(
    samples: Float64Array, sides: np.ndarray, cell: NDArray[np.intp], branches: int
) -> Iterator[Part]:
    """Yield the mean and the samples of each part of a cell.

    With few samples, some parts are equal.
    """
    from sklearn.cluster import KMeans  # takes half a second, and few programs need it

    inner = samples[cell]
    n = min(branches, len(np.unique(inner, axis=0)))
    with one_thread():  # of OpenMP, too, which the import has just loaded
        fitted = KMeans(n, n_init=1, random_state=_SEED).fit(_told_apart(inner, sides[cell]))
    means = fitted.cluster_centers_[:, : inner.shape[1]].astype(np.float32).astype(np.float64)
    own = np.stack([((inner - mean) ** 2).sum(axis=1) for mean in means], axis=1).argmin(axis=1)
    used = np.unique(own)  # rounding may make two means equal
    for part in range(branches):
        chosen = used[part % len(used)]
        yield means[chosen], cell[own == chosen]


def _told_apart(samples: Float64Array, sides: np.ndarray) -> Float64Array:
    """Return the samples with more features, by which those of other sides are farther away.

    The square of their distance grows by half of its mean over all samples, so that most of a
    part's samples are of one side.
    """
    own = (sides[:, None] == np.unique(sides)).astype(np.float64)
    if own.shape[1] == 1:
        return samples
    spread = samples.var(axis=0).sum()
    return np.concatenate([samples, np.sqrt(spread / 2) * own], axis=1)


def centre_of(
    machine: KernelMachine,
    vectors: Vectors,
    storage: Float64Array,
    mean: Float64Array,
    samples: Float64Array,
    likely: LikelyLabels,
    tolerance: np.float32 | None,
    expanded: Callable[..., Expansion] = expand,
) -> Centre:
    """Return a centre with the radius within which the linear form decides most of its samples."""
    decisions = likely.decisions
    distance = np.sqrt(((samples - mean) ** 2).sum(axis=1))
    widest = np.sqrt(LARGEST_EXPONENT / (2 * vectors.gamma))
    at_least = 0.3 * widest if len(samples) < 4 else 0.0
    reach = min(widest, max(1.25 * distance.max(), at_least)) * (1 - 1e-6)
    expansion = expanded(vectors, decisions, mean, max(reach, 1e-6 * widest))
    inner = 1.05 * np.quantile(distance, (1.0, 0.95, 0.85, 0.7, 0.5))
    radii = [expansion.radius, *inner[(inner > 0) & (inner < expansion.radius)]]
    intercept = machine.intercept[decisions]
    counts = [
        _n_decided(expansion, intercept, samples, radius, tolerance, likely.proving)
        for radius in radii
    ]
    radius = float(radii[int(np.argmax(counts))])
    weights, constants = linear_rows(expansion, radius, storage[decisions])
    return Centre(
        expansion,
        likely,
        radius,
        len(samples),
        storage[decisions],
        weights,
        constants,
        _moments(samples - mean, expansion.radius),
    )


def _moments(offsets: Float64Array, radius: float) -> Float64Array:
    n = offsets.shape[1]
    square = offsets.T @ offsets / max(1, len(offsets))
    size = float(np.trace(square)) or radius**2 / 4
    moments: Float64Array = (square + size / n * np.eye(n)) / 2
    return moments


def _n_decided(
    e: Expansion,
    intercept: Float64Array,
    samples: Float64Array,
    radius: float,
    tolerance: np.float32 | None,
    proving: NDArray[np.bool_],
) -> int:
    """Return how many samples within a radius get proved signs for all decisions of a label.

    For a regression with a tolerance: how many samples get an interval narrower than it.
    """
    v = samples - e.centre
    square = (v**2).sum(axis=1)
    near = square <= radius**2
    v, square = v[near], square[near, None]
    middle, half = e.ends.mean(axis=1), (e.ends[:, 1] - e.ends[:, 0]) / 2
    h = e.constant + v @ e.linear.T + middle * square
    distance = np.sqrt(square)
    powers = e.powers(radius).T
    high = (powers[3] * distance + powers[2]) * distance + powers[1]
    error = square * (half + distance * (powers[0] + distance * high))
    a = np.exp(-e.gamma * square)
    if tolerance is not None:
        return int((2 * a * error < tolerance).sum())
    signs = np.abs(intercept + a * h) > a * error
    return int(np.any([signs[:, rows].all(axis=1) for rows in proving], axis=0).sum())
