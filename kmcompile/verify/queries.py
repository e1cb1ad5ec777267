"""The queries to the C, the interpreter and the model, with their source."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.arrays import Float32Array, frozen

Source = Literal["test-data", "calibration", "held-out", "generated"]


@dataclass(frozen=True, slots=True, eq=False)
class Queries:
    """The queries of a verification, with their source.

    Parameters
    ----------
    X : ndarray of shape (n_queries, n_features), float32
        The user's samples, then generated inputs, then inputs at the edges, some of which are
        refused, and inputs that take every path.
    n_given, n_ordinary : int
        Number of the user's samples, and number of queries before the inputs at the edges.
    notes : tuple of str
        Number of queries of each kind, in words.
    truth : ndarray of shape (n_given,), int64, or None
        The right labels of the user's samples as indices of the classes, where they are known.
    of_loss : bool
        Whether a loss of right labels is promised, which these samples may refute.
    """

    X: Float32Array
    source: Source
    n_given: int
    n_ordinary: int
    notes: tuple[str, ...] = ()
    truth: NDArray[np.int64] | None = None
    of_loss: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "X", frozen(self.X, np.float32))
