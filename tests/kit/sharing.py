"""What a case of the kit makes is made once in a process: all tests of it share one object."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any, TypeVar

from kmcompile.target import Target, load_target

_Made = TypeVar("_Made")
_MOST = 256
"""Cases of a class that are kept: more than the lists of a kit that several tests take."""


def once(method: Callable[[Any], _Made]) -> Callable[[Any], _Made]:
    """Share what a method of a frozen case without arguments returns."""
    made = lru_cache(maxsize=_MOST)(method)

    @wraps(method)
    def own(case: Any) -> _Made:
        return made(case)

    return own


def shared(emit: Callable[..., _Made]) -> Callable[..., _Made]:
    """Share what the method `emit` of a frozen case returns for a target and a name.

    What it returns is frozen, too: a test that needs something else makes it with `replace`, and
    other files with `Emitted.with_file`.
    """

    @lru_cache(maxsize=_MOST)
    def made(case: Any, target: Target, name: str) -> _Made:
        return emit(case, target, name)

    @wraps(emit)
    def emitted(case: Any, target: str | Target, name: str = "iris") -> _Made:
        return made(case, load_target(target) if isinstance(target, str) else target, name)

    return emitted
