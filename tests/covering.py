"""Which combinations `make test` goes through; `make test-all` goes through all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import pytest

every_float = pytest.mark.parametrize("every", [61, pytest.param(1, marks=pytest.mark.exhaustive)])
"""Each 61st float32: an odd step meets every pattern of the last bits, with each exponent."""


def every_pair(
    values: Sequence[Any],
    others: Sequence[Any],
    two: Sequence[Any],
    less: Mapping[Any, int] | None = None,
) -> list[Any]:
    """Return all triples as parameters of a test, of which `make test` takes a part.

    Each value meets each other one, and each of the three pairs is there: half of the triples,
    those whose numbers add up to an even one, do. The others are marked as exhaustive.

    Parameters
    ----------
    less : mapping, optional
        Values that meet only so many in each half of the others, in turn and each second one.

    Examples
    --------
    >>> [p.values for p in every_pair("ab", "xy", "01") if not p.marks]
    [('a', 'x', '0'), ('a', 'y', '1'), ('b', 'x', '1'), ('b', 'y', '0')]
    """
    half, less = len(others) // 2, less or {}
    assert len(two) == 2
    triples = []
    for (n, a), (m, b), (k, c) in product(enumerate(values), enumerate(others), enumerate(two)):
        in_turn = a not in less or (n - m) % half in range(0, 2 * less[a], 2)
        left_out = (n + m + k) % 2 or not in_turn
        triples.append(pytest.param(a, b, c, marks=[pytest.mark.exhaustive] if left_out else []))
    return triples
