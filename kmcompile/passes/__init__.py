"""The passes: each returns a machine that is the same function of the raw input, one file each."""

from __future__ import annotations

from collections.abc import Callable

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.passes.center_vectors import center_vectors
from kmcompile.passes.drop_unused_vectors import drop_unused_vectors
from kmcompile.passes.fold_scalers import fold_scalers
from kmcompile.passes.fold_selections import fold_selections
from kmcompile.passes.merge_duplicate_vectors import merge_duplicate_vectors
from kmcompile.passes.refuse_negatives import refuse_negatives

PASSES: tuple[Callable[[KernelMachine], KernelMachine], ...] = (
    merge_duplicate_vectors,
    drop_unused_vectors,
    fold_selections,
    center_vectors,
    fold_scalers,
    refuse_negatives,
)
"""The passes that every machine goes through before it is lowered, in order."""


def run_passes(machine: KernelMachine, centers: bool = True) -> KernelMachine:
    """Return the machine after all passes: the same function of the raw input.

    A routed machine stays as it is.

    Parameters
    ----------
    machine : KernelMachine
    centers : bool
        Whether `center_vectors` runs. It must not for integer codes, whose grid is the data's grid.
    """
    if machine.routing is not None:
        return machine
    for run in PASSES:
        if centers or run is not center_vectors:
            machine = run(machine)
    return machine


__all__ = ["PASSES", "run_passes"]
