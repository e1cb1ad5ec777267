"""Inputs out of the calibrated range, and neighbours at its limits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array
from kmcompile.program.interpreter import Status, classify
from kmcompile.program.program import Program
from kmcompile.verify.path_search import PathSearch

_BASES = 8
_PAIRS = 6
_LOOKED_AT = 64
"""Largest number of inputs for which the stage that finds them out of range is determined."""

_OF_EACH = 3
"""Number of inputs for each such stage."""


def range_inputs(
    program: Program, search: PathSearch, rng: np.random.Generator
) -> tuple[Float32Array, tuple[str, ...]]:
    """Return inputs out of range for each stage, and notes on stages without such inputs.

    Returns
    -------
    inputs : ndarray of shape (n_inputs, n_features), float32
        Pairs of neighbours, one of which is in range; then a few inputs of each stage.
    notes : tuple of str
    """
    inside = np.flatnonzero(search.in_range)
    if len(inside) == 0:
        return search.X[:0], ("paths: no input found in the calibrated range",)
    base = search.X[rng.choice(inside, size=_BASES)]
    first = len(search.X)
    search.ask(_unlike(base, search.X[inside], rng))
    outside = first + np.flatnonzero(search.out_of_range[first:])
    neighbours = search.X[:0]
    if len(outside):
        a = rng.choice(outside, size=_PAIRS)
        neighbours = search.straddle(a, rng.choice(inside, size=_PAIRS))
    found = np.concatenate([search.X[rng.permutation(outside)[:_LOOKED_AT]], neighbours])
    stages = [number for number, stage in enumerate(program.stages) if stage.watches_range]
    found_by = _found_by(program, found, stages)
    few = [found[found_by == number][:_OF_EACH] for number in stages]
    notes = tuple(
        f"paths: no input found that {program.stages[number].name} finds out of range"
        for number, rows in zip(stages, few, strict=True)
        if len(rows) == 0
    )
    return np.concatenate([neighbours, *few]), notes


def _unlike(base: Float32Array, pool: Float32Array, rng: np.random.Generator) -> Float32Array:
    """Return inputs unlike the pool's: scaled, averaged, shuffled, with noise."""
    low, high = pool.min(axis=0), pool.max(axis=0)
    made = [base * np.float32(scale) for scale in (0.0, 0.25, 0.5, 0.75, 1.5, 2.0, 4.0, 16.0)]
    size = np.linalg.norm(base, axis=1, keepdims=True)
    for n in (4, 16):
        average = np.stack([pool[rng.choice(len(pool), size=n)].mean(axis=0) for _ in base])
        own_size = np.linalg.norm(average, axis=1, keepdims=True)
        made += [average, average * size / np.where(own_size == 0, 1, own_size)]
    made += [rng.permuted(base, axis=1), rng.uniform(low, high, size=base.shape)]
    noise = rng.standard_normal(base.shape) * (high - low)
    made += [base + noise * share for share in (0.1, 0.3, 1.0)]
    return np.concatenate(made).astype(np.float32)


def _found_by(program: Program, X: Float32Array, stages: list[int]) -> NDArray[np.intp]:
    """Return which of the stages finds each input out of range, -1 for none.

    The test is a program that ends after the stage: its stages find these inputs out of range.
    """
    found_by = np.full(len(X), -1, dtype=np.intp)
    for number in stages:
        rest = np.flatnonzero(found_by < 0)
        shorter = replace(program, exits=program.exits[:number])
        results, _ = classify(shorter, X[rest])
        found_by[rest[(results["status"] == Status.OK) & ~results["in_range"]]] = number
    return found_by
