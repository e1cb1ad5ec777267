"""What is asked of the C, of the interpreter and of the model, and where it comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from kmcompile.numeric.arrays import Float32Array, frozen

Source = Literal["test-data", "calibration", "held-out", "generated"]


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """What is asked, and where it comes from.

    Parameters
    ----------
    X : ndarray of shape (n_queries, n_features), float32
        The user's samples, then generated inputs, then those at the edges, refused ones among
        them, and those that take every path.
    n_given, n_ordinary : int
        How many the user gave, and how many there are before the edges.
    notes : tuple of str
        How many of which kind.
    """

    X: Float32Array
    source: Source
    n_given: int
    n_ordinary: int
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", frozen(self.X, np.float32))
