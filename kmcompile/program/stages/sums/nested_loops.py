"""The nested loops of a sum over monomials in the C, with the names of their variables."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import comb

import numpy as np
from numpy.typing import NDArray

_FEATURES = ("i", "j", "k", "m", "n", "q")
_SUMS = ("total", "of_i", "of_j", "of_k", "of_m", "of_n")
MOST_DEGREE = len(_FEATURES)


@dataclass(frozen=True, slots=True)
class NestedLoop:
    """A loop over the features up to that of the loop around it.

    Parameters
    ----------
    feature, outer : str
        The variable of the loop, and of the one around it; "" if there is none.
    sum : str
        What the loop adds to.
    own : str
        What the loop inside adds to; "" if there is none.
    turns : int
        How often the loop turns in all.
    inner : NestedLoop or None
        The loop inside.
    """

    feature: str
    outer: str
    sum: str
    own: str
    turns: int
    inner: NestedLoop | None

    @property
    def is_outermost(self) -> bool:
        """Whether no loop is around it: it runs over all features."""
        return not self.outer

    @property
    def is_innermost(self) -> bool:
        """Whether no loop is inside."""
        return self.inner is None


def nested_loops(n_features: int, degree: int) -> NestedLoop:
    """Return the outermost of as many loops as the degree; the monomials of one degree are turns.

    Parameters
    ----------
    n_features : int
    degree : int
        From 1 to 6.
    """
    loop: NestedLoop | None = None
    for depth in range(degree, 0, -1):
        loop = NestedLoop(
            feature=_FEATURES[depth - 1],
            outer=_FEATURES[depth - 2] if depth > 1 else "",
            sum=_SUMS[depth - 1],
            own=_SUMS[depth] if depth < degree else "",
            turns=comb(n_features + depth - 1, depth),
            inner=loop,
        )
    assert loop is not None
    return loop


@lru_cache(maxsize=4)
def order_of_terms(n_features: int, degree: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return of each monomial in the order of the loops its depth, and whose sum it is part of.

    The depth is its degree, from 1. It is part of the sum of the monomial of this number, counted
    from 1, or of the decision, 0.

    Examples
    --------
    >>> [of.tolist() for of in order_of_terms(2, 2)]
    [[1, 2, 1, 2, 2], [0, 1, 0, 3, 3]]
    """
    of_ends = [np.zeros(0, dtype=np.int64)] * (n_features + 1)  # below the innermost loop
    for depth in range(degree, 1, -1):
        inner, of_ends = of_ends, of_ends[:1]
        for own in inner[1:]:
            of_ends.append(np.concatenate([of_ends[-1], [depth], own]))
    depths = np.concatenate([part for own in of_ends[1:] for part in ([1], own)])
    parents = np.zeros(len(depths), dtype=np.int64)
    numbers = np.arange(1, len(depths) + 1)
    for depth in range(2, degree + 1):
        last = np.maximum.accumulate(np.where(depths == depth - 1, numbers, 0))
        parents[depths == depth] = last[depths == depth]
    return depths, parents
