"""The samples to which certified exits are fitted, and those by which they are chosen."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kmcompile.exits.candidates.samples import (
    accepted_rows,
    none_accepted,
    require_samples,
)
from kmcompile.exits.certified.likely import likely_inputs, likely_inputs_of_leaves
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.leaves import has_leaf_machines
from kmcompile.model.likely_inputs import edge_inputs
from kmcompile.numeric.arrays import Float32Array, Float64Array
from kmcompile.program.program import Program

MOST_SAMPLES = 2000
"""Most samples to which exits are fitted, and most others by which they are chosen."""

JUDGED = 3
"""One of so many samples chooses the exits; they are fitted to the others."""

MADE = 100
"""All points made from the vectors together count as so many samples in the choice of exits. They
stand for what few samples do not show: one query in a hundred that no exit decides may cost more
than all others."""

_N_GENERATED = 2250

_SEED = 20010628


@dataclass(frozen=True, slots=True, eq=False)
class ChoiceSamples:
    """The samples of a choice of certified exits. The C accepts them all.

    An exit decides more of the samples that it was fitted to than of others.

    Parameters
    ----------
    taught, judged : ndarray of shape (n, n_features), float32
        Samples to fit exits to, and others to choose them by.
    shares : ndarray of shape (n_judged,), float64
        How much each of the others counts, in all 1.
    n_judged : int
        The given samples among the others; without given samples, all of them.
    """

    taught: Float32Array
    judged: Float32Array
    shares: Float64Array
    n_judged: int


def choice_samples(
    machine: KernelMachine, program: Program, given: Float32Array | None
) -> ChoiceSamples:
    """Return the samples of a choice: the given ones and points made from the vectors.

    Without given samples, all are made from the vectors. Given ones that are few are filled up with
    made points for the fit; in the choice, all made points count as `MADE` samples.

    Parameters
    ----------
    given : ndarray of shape (n, n_features), float32, or None

    Raises
    ------
    InputError
        If too few of the given samples are accepted, or none of those that are made.
    """
    made = _accepted(program, generated(machine))
    if given is None:
        if len(made) < JUDGED:  # a machine that is constant but for inputs beyond the limit
            made = _accepted(program, edge_inputs(machine, program.prepare.limit))
        if len(made) < JUDGED:
            raise none_accepted(float(program.prepare.limit))
        return _equal(*_parts(made))
    X = _accepted(program, given)
    require_samples(len(X), "certified")
    taught, judged = _parts(X)
    if program.sum.skip_zeros:
        return _equal(taught, judged)
    more, others = _parts(made)
    counts = np.repeat([1.0, MADE / max(1, len(others))], [len(judged), len(others)])
    shares = counts / counts.sum()
    return ChoiceSamples(
        _filled(taught, more), np.concatenate([judged, others]), shares, len(judged)
    )


def with_generated(machine: KernelMachine, program: Program, X: Float32Array) -> Float32Array:
    """Return samples to fit exits to: few are filled up with points made from the vectors.

    A few samples say less of where queries are than the vectors do. Where a sum skips zeros, none
    are added: mixtures of vectors have fewer zeros than queries have.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features), float32
    """
    if program.sum.skip_zeros:
        return X
    return _filled(X, _parts(_accepted(program, generated(machine)))[0])


def _equal(taught: Float32Array, judged: Float32Array) -> ChoiceSamples:
    n = len(judged)
    return ChoiceSamples(taught, judged, np.full(n, 1 / max(1, n)), n)


def _filled(X: Float32Array, made: Float32Array) -> Float32Array:
    return np.concatenate([X, made[: max(0, len(made) - len(X))]])


def _accepted(program: Program, X: Float32Array) -> Float32Array:
    return X[accepted_rows(program.prepare, X)]


def _parts(X: Float32Array) -> tuple[Float32Array, Float32Array]:
    """Return samples to fit exits to, and others to choose them by."""
    order = np.random.default_rng(_SEED).permutation(len(X))
    n_judged = len(X) // JUDGED
    chosen = (rows[:MOST_SAMPLES] for rows in (order[n_judged:], order[:n_judged]))
    taught, judged = (np.ascontiguousarray(X[np.sort(rows)]) for rows in chosen)
    return taught, judged


@lru_cache(maxsize=1)  # mode statistical asks again for each of its parts
def generated(machine: KernelMachine) -> Float32Array:
    """Return inputs made from the support vectors: those of each leaf of a routed machine."""
    if machine.routing is None or not has_leaf_machines(machine):
        return likely_inputs(machine, _N_GENERATED)
    return likely_inputs_of_leaves(machine, _N_GENERATED)
