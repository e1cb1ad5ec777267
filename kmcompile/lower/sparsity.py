"""Whether the sums of a machine leave out the features of an input that are 0."""

from __future__ import annotations

import numpy as np

from kmcompile.kernels import Fourier, Poly, Rbf, Sigmoid
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.rounding import gamma_factor

_SPARSE = 0.5
"""Share of entries that are not 0 below which a list of them is shorter than the loop."""

_FEWEST_FEATURES = 64
"""With fewer, listing them takes what skipping saves."""

_LARGEST_EXPANSION_ERROR = 1e-3
"""Relative error of a typical rbf value up to which |s|^2 + |x|^2 - 2 <s, x> is of use."""


def skips_zeros(machine: KernelMachine) -> bool:
    """Return whether the support vectors are sparse, and inputs like them with them.

    Those of inner products do; the terms of other kernels are not 0 where the input is. An rbf
    kernel must then expand its distances. Where data lie far from 0 and close together that
    cancels, and their differences are summed as ever: the error of gamma |s - x|^2 is about
    gamma gamma_(m + 2) 3 S^2 for an input that is as long as the longest vector, S, and has as
    many nonzeros, m (kmcompile.kernels.rbf).
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
