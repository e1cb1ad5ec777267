"""The nested loops of a sum over monomials in the C, with the names of their variables."""

from __future__ import annotations

from dataclasses import dataclass
from math import comb

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
