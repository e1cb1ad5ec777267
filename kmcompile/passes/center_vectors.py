"""Move data that lie far from the origin to the origin, for kernels of differences."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.rounding import UNIT_ROUNDOFF, stored_error
from kmcompile.steps import Affine

_GAIN = 4.0
"""Least factor by which the stored vectors' error must shrink, since the added step costs
operations."""


def center_vectors(machine: KernelMachine) -> KernelMachine:
    """Return a machine whose vectors lie around 0, if that makes float32 more exact.

    For kernels of |s - x| = |(s - c) - (x - c)|: s - c is stored with an error relative to the
    vectors' spread instead of their distance from the origin. c is the float32 mean. Vectors that
    float32 holds exactly, such as pixels, stay as they are.
    """
    if not machine.kernel.of_distance:
        return machine
    vectors = machine.support_vectors
    center = vectors.mean(axis=0).astype(np.float32).astype(np.float64)
    shifted = vectors - center
    before = stored_error(vectors, vectors.astype(np.float32))
    # Error of the input's subtraction: the deviation of a Scale step, relative to a typical norm.
    spread = float(np.sqrt((shifted**2).sum(axis=1)).max())
    after = stored_error(shifted, shifted.astype(np.float32)) + 5 * UNIT_ROUNDOFF * spread
    if before <= _GAIN * after:
        return machine
    step = Affine(center, np.ones_like(center), np.zeros_like(center))
    return replace(machine, support_vectors=shifted, preprocessing=(*machine.preprocessing, step))
