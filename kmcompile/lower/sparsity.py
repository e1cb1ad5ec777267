"""Choice of whether the sums of a machine leave out the features of an input that are 0."""

from __future__ import annotations

import numpy as np

from kmcompile.kernels import Fourier, Poly, Rbf, Sigmoid
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.rounding import gamma_factor

_SPARSE = 0.5
"""Share of nonzero entries below which a loop over a list of nonzeros is shorter."""

_FEWEST_FEATURES = 64
"""With fewer features, listing the nonzeros takes as long as skipping zeros saves."""

_LARGEST_EXPANSION_ERROR = 1e-3
"""Largest relative error of a typical rbf value by the expansion |s|^2 + |x|^2 - 2 <s, x>."""


def skips_zeros(machine: KernelMachine) -> bool:
    """Return whether sums should skip zeros: the support vectors are sparse, and the kernel allows.

    Kernels of inner products allow skipping zeros; the terms of other kernels are not 0 where the
    input is 0. An rbf kernel must expand its distances to inner products. For data far from 0 and
    close together the expansion cancels, and the kernel sums differences instead: the error of
    gamma |s - x|^2 is about gamma gamma_(m + 2) 3 S^2 for an input with the norm S and the m
    nonzeros of the longest vector (`kmcompile.kernels.rbf`).
    """
    vectors = machine.support_vectors.astype(np.float32).astype(np.float64)
    sparse = np.count_nonzero(vectors) < _SPARSE * vectors.size
    if vectors.shape[1] < _FEWEST_FEATURES or not sparse:
        return False
    if not isinstance(machine.kernel, Rbf):
        return isinstance(machine.kernel, Poly | Sigmoid | Fourier)
    square = float((vectors**2).sum(axis=1).max())
    most = int(np.count_nonzero(vectors, axis=1).max())
    error = machine.kernel.gamma * gamma_factor(most + 2) * 3 * square
    return error <= _LARGEST_EXPANSION_ERROR
