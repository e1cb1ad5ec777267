"""Finding: a failed check and its failing queries."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray


class Broken(StrEnum):
    """The kinds of failed checks."""

    BITS = "the C differs from the interpreter"
    SELF_TEST = "the self-test of the C fails"
    VALUE = "a decision value lies outside its bound"
    INTERVAL = "a proved interval misses the model's decision"
    LABEL = "a certified label is not the model's"
    BOX = "an answer does not hold within the input tolerance"
    PROBABILITY = "a probability lies outside its bound"
    RISK = "test samples refute the promised risk"
    WORST_CASE = "a query took more instructions or cycles than the static worst case"
    STACK = "more stack was used than the static figure"


def _no_rows() -> NDArray[np.intp]:
    return np.zeros(0, dtype=np.intp)


@dataclass(frozen=True, slots=True, eq=False)
class Finding:
    """A failed check and its failing queries.

    Parameters
    ----------
    broken : Broken
    rows : ndarray of shape (n_failing,), intp
        Indices of the failing queries among all queries; empty if no query shows the failure.
    machine : str or None
        The machine of the C: "host" or the target's name; None if the C took no part.
    records : ndarray of shape (n_queries, record_words), uint32, or None
        The C's answers to all queries.
    of_codes : bool
        Whether the answers are to the codes of an integer format.
    """

    broken: Broken
    rows: NDArray[np.intp] = field(default_factory=_no_rows)
    machine: str | None = None
    records: NDArray[np.uint32] | None = None
    of_codes: bool = False
