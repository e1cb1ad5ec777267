"""Whether what a certified exit stores is far from the ends of float32."""

from __future__ import annotations

from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

_LARGEST = 2.0**100


def is_usable(stage: Any) -> bool:
    """Return whether no constant of a stage is NaN, infinite or so large that products overflow.

    A constant that overflows, or that is limited to what float32 holds, bounds nothing. That
    happens where inputs or coefficients have extreme scales; such an exit is left out.

    Parameters
    ----------
    stage : dataclass
        With arrays, numbers and dataclasses of such as fields, or tuples of them.
    """
    if is_dataclass(stage):
        return all(is_usable(getattr(stage, field.name)) for field in fields(stage))
    if isinstance(stage, tuple):
        return all(is_usable(item) for item in stage)
    if isinstance(stage, np.ndarray | np.floating | float):
        return bool((np.abs(np.asarray(stage, dtype=np.float64)) < _LARGEST).all())
    return True
