"""All vectors that the answers of a machine go back to: its own and the trained machine's."""

from __future__ import annotations

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.numeric.arrays import Float64Array
from kmcompile.passes.fold_selections import fold_selections


def vectors_behind(machine: KernelMachine) -> Float64Array:
    """Return the vectors of a machine, and behind them those of the machine that it stands for.

    The few vectors of a reduced machine show neither the range of the data nor which features
    matter to the trained machine's decisions.

    Parameters
    ----------
    machine : KernelMachine
        The machine after the passes.

    Returns
    -------
    ndarray of shape (n, n_kernel_features), float64
        In the order of columns that `fold_selections` has left.
    """
    if machine.reduced_from is None:
        return machine.support_vectors
    trained = fold_selections(machine.reduced_from.machine)
    return np.vstack([machine.support_vectors, trained.support_vectors])
