"""Check that the constants of a certified exit are far from the ends of float32's range."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

_LARGEST = 2.0**100


def is_usable(stage: Any) -> bool:
    """Return whether no constant of a stage is NaN, infinite or so large that products overflow.

    A constant that overflows, or is limited to float32's largest number, is not a valid bound. This
    happens where inputs or coefficients have extreme scales. Such an exit is left out.

    Parameters
    ----------
    stage : dataclass
        Its fields are arrays, numbers, dataclasses of these, or tuples of these.
    """
    if is_dataclass(stage):
        return all(is_usable(getattr(stage, field.name)) for field in fields(stage))
    if isinstance(stage, tuple):
        return all(is_usable(item) for item in stage)
    if isinstance(stage, np.ndarray | np.floating | float):
        return bool((np.abs(np.asarray(stage, dtype=np.float64)) < _LARGEST).all())
    return True
