"""Size limits of machines: a file may use a stored part many times."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from kmcompile.errors import InputError
from kmcompile.model.kernel_machine import KernelMachine
from kmcompile.readers.byte_budget import FLOAT_BYTES, ITEM_BYTES, current_budget
from kmcompile.readers.model_file import MAX_MODEL_BYTES
from kmcompile.steps import Step

MAX_NUMBERS = MAX_MODEL_BYTES // 8
"""As many float64 as the largest file has: no model for a microcontroller needs more."""


_VECTOR_BYTES = 5 * ITEM_BYTES
"""Cost of a vector that is compared with others and merged, besides copies of its numbers."""


def require_room(n_numbers: int, what: str) -> None:
    """Raise InputError if `what` has more than `MAX_NUMBERS` numbers."""
    if n_numbers > MAX_NUMBERS:
        raise InputError(
            f"{what} would have {n_numbers} numbers, must have at most {MAX_NUMBERS}; "
            "reduce features, samples or classes and retrain"
        )


def require_room_to_use(machine: KernelMachine) -> None:
    """Raise InputError if the file's budget has no room for comparing a machine's vectors.

    Every use sorts the vectors to find equal ones (`merge_duplicate_vectors`).
    """
    n_numbers = 2 * machine.support_vectors.size + machine.dual_coef.size
    n_bytes = FLOAT_BYTES * n_numbers + _VECTOR_BYTES * machine.n_support_vectors
    current_budget().spend(n_bytes, f"its {machine.n_support_vectors} vectors")


def spend_steps(steps: Iterable[Step], what: str) -> None:
    """Take the arrays of steps out of the budget, because steps copy their arrays."""
    current_budget().spend(2 * FLOAT_BYTES * count_numbers(steps), what)


def count_numbers(steps: Iterable[Step]) -> int:
    """Return how many numbers the arrays of some steps have."""
    values = (getattr(step, field.name) for step in steps for field in step.fields())
    return sum(value.size for value in values if isinstance(value, np.ndarray))
