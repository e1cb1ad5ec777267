"""The programs that were compared, and the front of those that no other one beats."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import astuple, dataclass

from kmcompile.program.estimate import Estimate

_MOST = 6
"""Programs of the front that are shown."""

_POINT = 0.01
"""Shares of proved labels that differ by no more count as equal."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A program that was compared.

    Parameters
    ----------
    what : str
        The program in words.
    options : tuple of str
        The options that ask for it, beside those that were given.
    takes : Estimate
    proved_share : float or None
        Share of the inputs whose label the sum proves; None if the labels are promised instead.
    chosen : bool
        Whether it is the program that is emitted.
    """

    what: str
    options: tuple[str, ...]
    takes: Estimate
    proved_share: float | None
    chosen: bool = False


def front(compared: Iterable[Compared]) -> tuple[Compared, ...]:
    """Return the chosen program and those that no other one beats, at most six, fastest first.

    A program is beaten by one that proves as many labels and takes no more instructions in the
    mean, no more in the worst case, and no more flash.

    Examples
    --------
    >>> fast, small = Estimate(10.0, 90.0, 9_000), Estimate(20.0, 20.0, 4_000)
    >>> large = Compared("large", (), Estimate(20.0, 20.0, 9_000), None)
    >>> [one.what for one in front([Compared("small", (), small, None, chosen=True), large,
    ...                             Compared("fast", (), fast, None)])]
    ['fast', 'small']
    """
    every = list(compared)
    chosen = [one for one in every if one.chosen]
    others = [
        one for one in every if not one.chosen and not any(_beats(other, one) for other in every)
    ]
    others.sort(key=lambda one: one.takes.mean)
    shown = [*chosen, *others[: _MOST - len(chosen)]]
    return tuple(sorted(shown, key=lambda one: one.takes.mean))


def _beats(one: Compared, other: Compared) -> bool:
    """Return whether a program takes no more than another one of no better proof."""
    if other.proved_share is not None and (one.proved_share or 0.0) < other.proved_share - _POINT:
        return False
    first, second = astuple(one.takes), astuple(other.takes)
    return all(a <= b for a, b in zip(first, second, strict=True)) and first != second
