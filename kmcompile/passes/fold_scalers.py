"""Fold neighbouring scalers of the preprocessing into one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.steps import Affine, Step


def fold_scalers(machine: KernelMachine) -> KernelMachine:
    """Return the machine without consecutive Affine steps and without Affine steps of no effect.

    ((x - a) f - b) g = (x - (a + b / f)) (f g). Where a and b / f cancel, their rounding in float64
    is large relative to the sum; the pass adds it to the offset's error.
    """
    folded: list[Step] = []
    for step in machine.preprocessing:
        last = folded[-1] if folded else None
        if isinstance(step, Affine) and isinstance(last, Affine):
            folded[-1] = _folded(last, step)
        elif not (isinstance(step, Affine) and _is_identity(step)):
            folded.append(step)
    return replace(machine, preprocessing=tuple(folded))


def _folded(first: Affine, second: Affine) -> Affine:
    moved = second.offset / first.factor
    # Rounding of quotient and sum; then the divisor's error, relative to the quotient.
    rounded = 2.0**-51 * (np.abs(first.offset) + np.abs(moved))
    rounded = rounded + np.abs(moved) * first.factor_error * (1 + 1e-9)
    error = first.offset_error + second.offset_error / np.abs(first.factor) + rounded
    return Affine(
        first.offset + moved,
        first.factor * second.factor,
        error * (1 + 1e-9),
        (first.factor_error + second.factor_error + 2.0**-53) * (1 + 1e-9),
    )


def _is_identity(step: Affine) -> bool:
    return bool(np.all(step.offset == 0) and np.all(step.factor == 1))
