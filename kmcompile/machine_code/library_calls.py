"""Calls between routines of the compiler's library, read from the relocations of a partial link."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from kmcompile.errors import ToolError
from kmcompile.machine_code import elf
from kmcompile.machine_code.limits import check_nested, drained
from kmcompile.machine_code.symbols import read_relocations, read_symbols

_Item = TypeVar("_Item", int, str)


@dataclass(frozen=True, slots=True)
class LibraryCalls:
    """Sections of code in an object that was linked with `-r --unique`, and their references.

    A section is one function of the model, or one member of the compiler's library, whose
    functions may reach each other without a relocation.

    Attributes
    ----------
    functions : mapping
        Section -> its functions.
    references : mapping
        Section -> the other sections of code to which it refers by calls, jumps and addresses,
        directly or through its constants.
    undefined : mapping
        Section -> the names that it uses and the object does not define.
    """

    functions: Mapping[int, frozenset[str]]
    references: Mapping[int, frozenset[int]]
    undefined: Mapping[int, frozenset[str]]

    def stack_bytes(self, frames: Mapping[str, int]) -> dict[str, int]:
        """Return the largest stack that a call of each library function can take.

        Each section is charged with the frames of all its functions.

        Parameters
        ----------
        frames : mapping
            Library function -> bytes of its own frame.

        Raises
        ------
        ToolError
            If sections call each other in a cycle, call a function outside the library, or nest
            more than `kmcompile.machine_code.limits.MOST_NESTED` deep.
        """
        known: dict[int, int] = {}
        return {name: self._worst(self._section_of(name), frames, (), known) for name in frames}

    def callers(self, frames: Mapping[str, int]) -> dict[str, frozenset[str]]:
        """Return the library functions that each of the other functions refers to."""
        called: dict[str, frozenset[str]] = {}
        for section, names in self.functions.items():
            found = {
                name
                for reference in self.references.get(section, ())
                for name in self.functions.get(reference, ())
            }
            for name in names - frames.keys():
                called[name] = called.get(name, frozenset()) | (found & frames.keys())
        return called

    def _section_of(self, name: str) -> int:
        return next(section for section, names in self.functions.items() if name in names)

    def _worst(
        self,
        section: int,
        frames: Mapping[str, int],
        path: tuple[int, ...],
        known: dict[int, int],
    ) -> int:
        if section in known:
            return known[section]
        check_nested(path, "stack: calls of the compiler's library")
        names = self.functions.get(section, frozenset())
        unknown = (names - frames.keys()) | self.undefined.get(section, frozenset())
        if section in path or unknown:
            what = "is recursive" if section in path else f"calls {', '.join(sorted(unknown))}"
            library = min(self.functions[path[0] if path else section])
            raise ToolError(f"stack: {library} of the compiler's library {what}")
        below = (
            self._worst(reference, frames, (*path, section), known)
            for reference in self.references.get(section, ())
        )
        known[section] = sum(frames[name] for name in names) + max(below, default=0)
        return known[section]


def read_library_calls(model: Path) -> LibraryCalls:
    """Read an object that holds a model with all that it needs of the compiler's library."""
    functions: dict[int, set[str]] = {}
    references: dict[int, set[int]] = {}
    undefined: dict[int, set[str]] = {}
    with elf.opened(model) as file:
        for symbol in read_symbols(file):
            if symbol.is_function and symbol.is_defined:
                functions.setdefault(symbol.section, set()).add(symbol.name)
        for section, symbol in read_relocations(file):
            if symbol.is_defined:
                references.setdefault(section, set()).add(symbol.section)
            else:
                undefined.setdefault(section, set()).add(symbol.name)
    reached = {section: _code_reached(section, functions, references) for section in functions}
    return LibraryCalls(_frozen(functions), _frozen(reached), _frozen(undefined))


def _code_reached(
    start: int, functions: Mapping[int, set[str]], references: Mapping[int, set[int]]
) -> set[int]:
    """Return the sections of code to which a section refers, also through a switch's table."""
    reached: set[int] = set()
    to_do, seen = [start], {start}
    for known in drained(to_do, "stack: references of the compiler's library"):
        for section in references.get(known, set()) - seen:
            seen.add(section)
            (reached.add if section in functions else to_do.append)(section)
    return reached


def _frozen(table: dict[int, set[_Item]]) -> dict[int, frozenset[_Item]]:
    return {section: frozenset(items) for section, items in table.items()}
