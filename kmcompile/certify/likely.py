"""Inputs like those that a machine will meet, where the user gives none: made from its vectors."""

from __future__ import annotations

import numpy as np

from kmcompile.calibrate.generated import vector_classes
from kmcompile.ir.arrays import Float32Array
from kmcompile.ir.kernel_machine import KernelMachine
from kmcompile.verify.queries import raw_vectors

_SEED = 20011108
_FARTHEST = 0.75
"""How far an input lies behind a vector, in distances to one of another class."""


def likely_inputs(machine: KernelMachine, n: int) -> Float32Array:
    """Return inputs on the far side of support vectors, seen from vectors of another class.

    Support vectors are the inputs nearest to the boundary; most inputs lie behind them. On moons,
    banana, german and breast cancer the quantiles of |f| of these inputs come nearest to those of
    test samples, among mixtures of vectors, perturbed ones and Gaussians fitted to a class.

    Returns
    -------
    ndarray of shape (n, n_features), float32
    """
    rng = np.random.default_rng(_SEED)
    vectors = raw_vectors(machine, rng)
    classes = vector_classes(machine)
    first, second = rng.integers(len(vectors), size=(2, 8 * n))
    apart = np.flatnonzero(classes[first] != classes[second])[:n]
    a, b = vectors[first[apart]], vectors[second[apart]]
    behind = a + (a - b) * rng.random((len(a), 1)) * _FARTHEST
    inputs: Float32Array = behind.astype(np.float32)
    return inputs
