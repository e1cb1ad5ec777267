"""Likely inputs, and inputs at the edges of what is accepted, made from the machine itself."""

from __future__ import annotations

from functools import partial

import numpy as np

from kmcompile.kernels import KernelSum
from kmcompile.model.coefficients import decision_coefficients
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.model.reference import evaluate
from kmcompile.numeric.arrays import Float32Array, Float64Array

_SEED = 20030701
_BISECTIONS = 60
_BISECTION_WORK = 1_000_000_000
"""Largest number of multiply-adds for bisection: a large machine gets few pairs."""


def ordinary_inputs(machine: KernelMachine, n: int) -> Float32Array:
    """Return n inputs that resemble the training data, raw support vectors first.

    Returns
    -------
    ndarray of shape (n, n_features), float32
    """
    rng = np.random.default_rng(_SEED)
    vectors = raw_vectors(machine, rng)
    # One vector of each class in turn, if they stand in classes.
    order = rng.permutation(len(vectors))
    vectors = vectors[order]
    if n <= len(vectors):
        return vectors[:n].astype(np.float32)
    a, b = vectors[rng.integers(len(vectors), size=(2, n - len(vectors)))]
    share = rng.random((len(a), 1))
    mixed = share * a + (1 - share) * b
    return np.concatenate([vectors, mixed]).astype(np.float32)


def generate(machine: KernelMachine, n: int) -> Float32Array:
    """Return at least n finite inputs.

    A third each are raw support vectors, perturbed support vectors and mixtures of two support
    vectors. Corners of the box around the vectors follow, then pairs of neighbours in float32
    between which the label changes, found by bisection.

    Returns
    -------
    ndarray of shape (at least n, n_features), float32
    """
    rng = np.random.default_rng(_SEED + 1)
    vectors = raw_vectors(machine, rng)
    third = -(-n // 3)
    chosen = vectors[rng.integers(len(vectors), size=(3, third))]
    spread = vectors.std(axis=0) + 1e-3 * np.abs(vectors).max(axis=0)
    noise = 10.0 ** rng.uniform(-4, 0.5, size=(third, 1))
    perturbed = chosen[1] + rng.standard_normal(chosen[1].shape) * spread * noise
    mixtures = chosen[2] + rng.random((third, 1)) * (chosen[0] - chosen[2])
    corners = np.where(
        rng.random((max(8, n // 20), machine.n_features)) < 0.5,
        vectors.min(axis=0),
        vectors.max(axis=0),
    )
    if machine.kernel.requires_nonnegative:
        perturbed = before_steps(machine, np.abs(machine.prepare(perturbed)))
    inner = np.concatenate([chosen[0], perturbed, mixtures, corners]).astype(np.float32)
    return np.concatenate([inner, _neighbours(machine, inner, rng)])


def edge_inputs(machine: KernelMachine, limit: np.float32) -> Float32Array:
    """Return inputs of zeros, of tiny and of the largest accepted values, and refused inputs.

    Each of the first 64 features is NaN once, each infinity once and twice the limit once. Some
    inputs are nearly zeros behind the preprocessing.
    """
    d = machine.n_features
    special = np.array([np.nan, np.inf, -np.inf, limit * np.float32(2), -limit * np.float32(2)])
    tiny = np.array([0.0, -0.0, 1e-45, -1e-45, 1e-38, 1e-30, limit, -limit, limit / 3])
    whole = np.repeat(tiny.astype(np.float32)[:, None], d, axis=1)
    base = ordinary_inputs(machine, 1)[0]
    single = []
    for feature in range(min(d, 64)):
        for value in special:
            row = base.copy()
            row[feature] = value
            single.append(row)
    with np.errstate(over="ignore"):  # infinities are refused, too
        growing = base * np.float32(2.0) ** np.arange(1, 61, 4, dtype=np.float32)[:, None]
    # Behind a scaler the steps get what rounding leaves of zeros, for instance a Normalizer.
    shares = np.array([0.0, 1e-30, 2.0**-52, 2.0**-48, 2.0**-44, 2.0**-24])[:, None]
    nearly_zeros = before_steps(machine, shares * machine.prepare(base[None].astype(np.float64)))
    return np.concatenate(
        [whole, growing, nearly_zeros.astype(np.float32), np.array(single, dtype=np.float32)]
    )


def raw_vectors(machine: KernelMachine, rng: np.random.Generator) -> Float64Array:
    """Return raw inputs that preprocessing turns into about the support vectors."""
    steps = machine.preprocessing
    summed = KernelSum(
        vectors=machine.support_vectors,
        coefficients=partial(decision_coefficients, machine),
        intercept=machine.intercept,
        n_constant=steps[-1].n_constant if steps else 0,
    )
    return before_steps(machine, machine.kernel.likely_points(summed, rng))


def before_steps(machine: KernelMachine, vectors: Float64Array) -> Float64Array:
    """Return raw inputs that preprocessing turns into about these vectors."""
    for step in reversed(machine.preprocessing):
        vectors = step.undo(vectors)
    return vectors


def _neighbours(
    machine: KernelMachine, inner: Float32Array, rng: np.random.Generator
) -> Float32Array:
    """Return pairs of inputs with different labels that are neighbours or nearly so in float32."""
    work = machine.n_support_vectors * machine.support_vectors.shape[1] * _BISECTIONS
    most = int(np.clip(_BISECTION_WORK // work, 2, 64))
    sample = inner[rng.permutation(len(inner))[: 8 * most]]
    labels = evaluate(machine, sample).labels
    other = rng.permutation(len(sample))
    pairs = np.flatnonzero(labels != labels[other])[:most]
    a, b = sample[pairs], sample[other[pairs]]
    label = labels[pairs]
    for _ in range(_BISECTIONS if len(pairs) else 0):
        middle = (a.astype(np.float64) / 2 + b.astype(np.float64) / 2).astype(np.float32)
        same = (evaluate(machine, middle).labels == label)[:, None]
        a, b = np.where(same, middle, a), np.where(same, b, middle)
    return np.concatenate([a, b])
