"""Whether the sums of a machine leave out the features of an input that are 0."""

from __future__ import annotations

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine

_SPARSE = 0.5
"""Share of entries that are not 0 below which a list of them is shorter than the loop."""

_FEWEST_FEATURES = 64
"""With fewer, listing them takes what skipping saves."""


def skips_zeros(machine: KernelMachine) -> bool:
    """Return whether the support vectors are sparse, and inputs like them with them.

    Only where the kernel allows it (`Kernel.sums_nonzeros`).
    """
    vectors = machine.support_vectors.astype(np.float32).astype(np.float64)
    sparse = np.count_nonzero(vectors) < _SPARSE * vectors.size
    if vectors.shape[1] < _FEWEST_FEATURES or not sparse:
        return False
    return machine.kernel.sums_nonzeros(vectors)
