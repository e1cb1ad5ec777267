"""Leave out support vectors whose coefficients are all 0."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from kmcompile.model.kernel_machine import KernelMachine, Task
from kmcompile.text.figures import counted


def drop_unused_vectors(machine: KernelMachine) -> KernelMachine:
    """Return the machine without the support vectors that no decision uses.

    0 K(s, x) = 0 for every x, so the function is the same. Equal vectors of both classes leave such
    coefficients where they cancel (`merge_duplicate_vectors`). One vector always stays.
    """
    used = np.any(machine.dual_coef != 0, axis=0)
    used[0] |= not used.any()
    if used.all():
        return machine
    ends = np.cumsum(machine.class_counts, dtype=int)
    counts = tuple(int(part.sum()) for part in np.split(used, ends[:-1]))
    dropped = counted(int((~used).sum()), "support vector", "support vectors")
    return replace(
        machine,
        support_vectors=machine.support_vectors[used],
        dual_coef=machine.dual_coef[:, used],
        class_counts=counts if machine.task is Task.ONE_VS_ONE else (),
        notes=(*machine.notes, f"{dropped} with coefficients of 0 left out"),
    )
