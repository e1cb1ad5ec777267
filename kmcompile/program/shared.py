"""The place of a stage in a program, and the constants that stages share."""

from __future__ import annotations

from dataclasses import Field
from enum import IntEnum
from typing import Any

import numpy as np


class Place(IntEnum):
    """Where a stage stands in a program."""

    PREPARE = 0
    MONITOR = 1
    LIST = 2
    GATE = 3
    EXIT = 4
    SUM = 5
    LABEL = 6
    REPLAY = 7


LEFT_OUT = {"left_out": True}
"""Metadata of a field that is neither stored nor printed where it is None."""


Shared = tuple[tuple[str, float], ...]
"""Name -> value of shared constants; a name in words where the C has only literals."""


def is_left_out(field: Field[Any], of: object) -> bool:
    """Return whether a field is neither stored nor printed: an optional part that is not there."""
    return "left_out" in field.metadata and getattr(of, field.name) is None


def sizes(table: np.ndarray, *names: str) -> Shared:
    """Return the shared constants that the shape of a table has, one for each named axis.

    Examples
    --------
    >>> sizes(np.zeros((3, 8)), "N_BLOCKS", "LANES")
    (('N_BLOCKS', 3), ('LANES', 8))
    """
    return tuple(zip(names, table.shape, strict=True))
