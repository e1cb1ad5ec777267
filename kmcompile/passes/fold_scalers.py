"""Fold neighbouring scalers of the preprocessing into one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.ir.kernel_machine import KernelMachine
from kmcompile.ir.preprocessing import Affine, Step


def fold_scalers(machine: KernelMachine) -> KernelMachine:
    """Return the machine with no two Affine steps in a row and none that does nothing.

    ((x - a) f - b) g = (x - (a + b / f)) (f g).
    """
    folded: list[Step] = []
    for step in machine.preprocessing:
        last = folded[-1] if folded else None
        if isinstance(step, Affine) and isinstance(last, Affine):
            offset = last.offset + step.offset / last.factor
            folded[-1] = Affine(offset, last.factor * step.factor)
        elif not (isinstance(step, Affine) and _is_identity(step)):
            folded.append(step)
    return replace(machine, preprocessing=tuple(folded))


def _is_identity(step: Affine) -> bool:
    return bool(np.all(step.offset == 0) and np.all(step.factor == 1))
