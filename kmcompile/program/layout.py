"""Parts of a stage in the C besides its tables: private #defines and members of the workspace."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

from kmcompile.numeric.table import BYTES


@dataclass(frozen=True, slots=True)
class Constant:
    """A private #define of the model file; its name is without the program's prefix."""

    name: str
    value: int
    meaning: str


@dataclass(frozen=True, slots=True)
class Member:
    """An array in the workspace; a single number where its length is None."""

    c_type: str
    name: str
    length: int | None
    meaning: str
    element_bytes: int | None = None  # None: those of a number of this type

    @property
    def n_bytes(self) -> int:
        """The bytes of the array or number."""
        each = self.element_bytes or BYTES[self.c_type]
        return each * (1 if self.length is None else self.length)


_Named = TypeVar("_Named", Constant, Member)


def once(parts: Iterable[_Named]) -> tuple[_Named, ...]:
    """Return the constants or members of several exits, each once.

    Raises
    ------
    ValueError
        If two exits use one name for different things.
    """
    found: dict[str, _Named] = {}
    for part in parts:
        if found.setdefault(part.name, part) != part:
            raise ValueError(f"{found[part.name]} and {part} have one name")
    return tuple(found.values())
