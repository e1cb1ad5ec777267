"""How large a machine may become: a part that a file stores once may be used many times."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields

import numpy as np

from kmcompile.errors import InputError
from kmcompile.frontend.model_file import MAX_MODEL_BYTES
from kmcompile.ir.preprocessing import Step

MAX_NUMBERS = MAX_MODEL_BYTES // 8
"""As many float64 as the largest file has: no model for a microcontroller needs more."""


def require_room(n_numbers: int, what: str) -> None:
    """Raise InputError if `what` has more than `MAX_NUMBERS` numbers."""
    if n_numbers > MAX_NUMBERS:
        raise InputError(
            f"{what} would have {n_numbers} numbers, must have at most {MAX_NUMBERS}; "
            "reduce features, samples or classes and retrain"
        )


def count_numbers(steps: Iterable[Step]) -> int:
    """Return how many numbers the arrays of some steps have."""
    values = (getattr(step, field.name) for step in steps for field in fields(step))
    return sum(value.size for value in values if isinstance(value, np.ndarray))
