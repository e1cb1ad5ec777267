"""Add a check after the preprocessing if the kernel has no value for negative features."""

from __future__ import annotations

from dataclasses import replace

from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.steps import PositivePart


def refuse_negatives(machine: KernelMachine) -> KernelMachine:
    """Return the machine with `PositivePart` as its last step if its kernel needs it."""
    if not machine.kernel.requires_nonnegative:
        return machine
    step = PositivePart(machine.support_vectors.shape[1])
    return replace(machine, preprocessing=(*machine.preprocessing, step))
