"""Which combinations `make test` goes through; `make test-all` goes through all of them.

Where every case meets every compiler on two targets, each of the three pairs is met with one half
of the combinations: those whose numbers add up to an even one. The others are `exhaustive`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any

import pytest


def every_pair(values: Sequence[Any], others: Sequence[Any], two: Sequence[Any]) -> list[Any]:
    """Return all triples as parameters of a test; one half, which has every pair, is not marked.

    Examples
    --------
    >>> [p.values for p in every_pair("ab", "xy", "01") if not p.marks]
    [('a', 'x', '0'), ('a', 'y', '1'), ('b', 'x', '1'), ('b', 'y', '0')]
    """
    assert len(two) == 2
    triples = product(enumerate(values), enumerate(others), enumerate(two))
    return [
        pytest.param(*(value for _, value in triple), marks=_marks(n for n, _ in triple))
        for triple in triples
    ]


def in_turn(values: Sequence[Any], two: Sequence[Any]) -> list[Any]:
    """Return all pairs, each as one parameter; one with each value is not marked, in turn.

    Examples
    --------
    >>> [p.values for p in in_turn("abc", "01") if not p.marks]
    [(('a', '0'),), (('b', '1'),), (('c', '0'),)]
    """
    assert len(two) == 2
    return [
        pytest.param((value, other), marks=_marks((n, m)))
        for (n, value), (m, other) in product(enumerate(values), enumerate(two))
    ]


def _marks(numbers: Iterable[int]) -> tuple[Any, ...]:
    return (pytest.mark.exhaustive,) if sum(numbers) % 2 else ()
