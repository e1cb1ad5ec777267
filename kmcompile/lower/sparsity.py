"""Choice of whether the sums of a machine leave out the features of an input that are 0."""

from __future__ import annotations

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.program.program import Program
from kmcompile.program.stages import ExactSum

_SPARSE = 0.5
"""Share of nonzero entries below which a loop over a list of nonzeros is shorter."""

_FEWEST_FEATURES = 64
"""With fewer features, listing the nonzeros takes as long as skipping zeros saves."""


def skips_zeros(machine: KernelMachine) -> bool:
    """Return whether sums should skip zeros: the support vectors are sparse, and the kernel allows.

    `Kernel.sums_nonzeros` says whether the kernel allows skipping zeros.
    """
    vectors = machine.support_vectors.astype(np.float32).astype(np.float64)
    sparse = np.count_nonzero(vectors) < _SPARSE * vectors.size
    if vectors.shape[1] < _FEWEST_FEATURES or not sparse:
        return False
    return machine.kernel.sums_nonzeros(vectors)


def sum_skips_zeros(program: Program) -> bool:
    """Return whether the exact sum runs over the nonzero features: early exits then do, too."""
    exact = program.ends.exact
    return isinstance(exact, ExactSum) and exact.skip_zeros
