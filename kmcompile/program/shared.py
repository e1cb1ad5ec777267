"""What stages say of themselves: where they stand, and the constants that they share."""

from __future__ import annotations

from enum import IntEnum

import numpy as np


class Place(IntEnum):
    """Where a stage stands in a program."""

    PREPARE = 0
    LIST = 1
    GATE = 2
    EXIT = 3
    SUM = 4
    LABEL = 5
    REPLAY = 6


Shared = tuple[tuple[str, float], ...]
"""Constants by their names in the C, or by what they are where the C has them as literals."""


def sizes(table: np.ndarray, *names: str) -> Shared:
    """Return what the shape of a table says of the constants that its axes are laid out for.

    Examples
    --------
    >>> sizes(np.zeros((3, 8)), "N_BLOCKS", "LANES")
    (('N_BLOCKS', 3), ('LANES', 8))
    """
    return tuple(zip(names, table.shape, strict=True))
