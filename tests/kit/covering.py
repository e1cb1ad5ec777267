"""Few cases that have all that many have, and the combinations that `make test` runs."""

from __future__ import annotations

from collections.abc import Callable, Container, Hashable, Mapping, Sequence, Set
from dataclasses import fields
from itertools import product
from typing import Any, TypeVar

import pytest

_Name = TypeVar("_Name", bound=Hashable)


def cover(cases: Sequence[Mapping[str, Any]]) -> set[int]:
    """Return indices of cases in which each value of each parameter occurs.

    Parameters
    ----------
    cases : sequence of mappings
        For each case the values of its parameters by name. Values that cannot be hashed differ
        unless they are one object.

    Examples
    --------
    >>> cases = [{"a": a, "b": b} for a in range(3) for b in range(2)]
    >>> [cases[n] for n in sorted(cover(cases))]
    [{'a': 0, 'b': 0}, {'a': 1, 'b': 1}, {'a': 2, 'b': 0}]
    """
    taken: set[int] = set()
    seen: set[tuple[str, Any]] = set()
    pairs = [{(name, _key(value)) for name, value in case.items()} for case in cases]
    for wanted in range(max(map(len, pairs), default=0), 0, -1):
        for n, own in enumerate(pairs):
            if len(own - seen) >= wanted:
                taken.add(n)
                seen |= own
    return taken


def _key(value: Any) -> Any:
    """Return a key that identifies a value."""
    try:
        return type(value), hash(value), value
    except TypeError:
        return id(value)


def some(
    values: Sequence[Any], names: Container[str], name_of: Callable[[Any], str] = str
) -> list[Any]:
    """Return values as parameters of a test; `make test` takes those with these names.

    Examples
    --------
    >>> [p.values for p in some([1, 2, 3], ["2"]) if not p.marks]
    [(2,)]
    """
    own = [name_of(value) for value in values]
    assert any(name in names for name in own)
    marks = [() if name in names else (pytest.mark.exhaustive,) for name in own]
    return [pytest.param(v, marks=m, id=n) for v, m, n in zip(values, marks, own, strict=True)]


def every_nth(values: Sequence[Any], n: int) -> list[Any]:
    """Return values as parameters of a test; `make test` takes the first and each n-th after it."""
    return some(values, {str(value) for value in values[::n]})


def by_fields(values: Sequence[Any]) -> list[Any]:
    """Return dataclasses as parameters; `make test` takes each value of each field once."""
    taken = cover([{f.name: getattr(v, f.name) for f in fields(v)} for v in values])
    return some(values, {str(values[n]) for n in taken})


every_float = pytest.mark.parametrize("every", [61, pytest.param(1, marks=pytest.mark.exhaustive)])
"""Each 61st float32: an odd step meets every pattern of the last bits, with each exponent."""


def every_pair(
    values: Sequence[Any],
    others: Sequence[Any],
    two: Sequence[Any],
    less: Mapping[Any, int] | None = None,
) -> list[Any]:
    """Return all triples as parameters of a test; half of them are marked as exhaustive.

    The half without marks has the triples whose indices add up to an even number. Each pair of
    values of two parameters occurs in it. `make test` takes a cover of this half.

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


def covering(parts: Mapping[_Name, Set[str]]) -> Sequence[_Name]:
    """Return names whose parts together are all parts, each time the one with the most new ones.

    Examples
    --------
    >>> covering({"a": {"x"}, "b": {"x", "y", "z"}, "c": {"z", "w"}})
    ['b', 'c']
    """
    left = set().union(*parts.values())
    chosen = []
    while left:
        most = max(parts, key=lambda name: len(parts[name] & left))
        chosen.append(most)
        left -= parts[most]
    return chosen
