"""The source line and the inlined function of each instruction (DWARF 4 and 5)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from elftools.dwarf.ranges import BaseAddressEntry

from kmcompile.machine_code import elf
from kmcompile.machine_code.limits import MOST_NESTED, check_nested

_INSTANCES: Final = ("DW_TAG_subprogram", "DW_TAG_inlined_subroutine")


@dataclass(frozen=True, slots=True)
class Instance:
    """A function's machine code at one place: its own, or where it is inlined.

    Attributes
    ----------
    key : int
        Number that identifies the instance.
    function : str
        Name of the function in the source.
    ranges : tuple of (int, int)
        First address of a range, and the address behind its last one.
    call_line : int
        Line of the call that was inlined; 0 for a function's own code.
    around : Instance or None
        The instance into which this one is inlined.
    """

    key: int
    function: str
    ranges: tuple[tuple[int, int], ...]
    call_line: int
    around: Instance | None

    def holds(self, address: int) -> bool:
        """Return whether an address is in the ranges."""
        return any(first <= address < end for first, end in self.ranges)


@dataclass(frozen=True, slots=True)
class SourceLines:
    """The line and the instance of each address of the requested source files."""

    _starts: tuple[int, ...]
    _lines: tuple[int, ...]
    _instances: tuple[Instance, ...]

    def line(self, address: int) -> int:
        """Return the line of an address; 0 if unknown."""
        index = bisect_right(self._starts, address) - 1
        return self._lines[index] if index >= 0 else 0

    def instance(self, address: int) -> Instance | None:
        """Return the innermost instance whose ranges hold an address."""
        found = [one for one in self._instances if one.holds(address)]
        return max(found, key=_depth, default=None)


def read_source_lines(image: Path, sources: tuple[str, ...]) -> SourceLines:
    """Read an image's line table and inlined functions for some source files.

    Parameters
    ----------
    sources : tuple of str
        File names, without folders.
    """
    rows: dict[int, int] = {}
    instances: list[Instance] = []
    with elf.opened(image) as file:
        if not file.has_dwarf_info():
            return SourceLines((), (), ())
        dwarf = file.get_dwarf_info()
        for unit in dwarf.iter_CUs():
            name = _text(unit.get_top_DIE(), "DW_AT_name").rpartition("/")[2]
            if name in sources:
                rows.update(_rows(dwarf.line_program_for_CU(unit), name))
                instances += _instances(dwarf, unit, unit.get_top_DIE(), None)
    starts = sorted(rows)
    return SourceLines(tuple(starts), tuple(rows[at] for at in starts), tuple(instances))


def _rows(program: Any, name: str) -> dict[int, int]:
    """Return address -> line; 0 behind the end of a sequence and of other files."""
    header = program.header
    version_5 = header["version"] >= 5
    rows: dict[int, int] = {}
    for entry in program.get_entries():
        state = entry.state
        if state is None:
            continue
        file = header["file_entry"][state.file if version_5 else state.file - 1]
        known = not state.end_sequence and file.name.decode().rpartition("/")[2] == name
        if known or state.address not in rows:
            rows[state.address] = state.line if known else 0
    return rows


def _instances(
    dwarf: Any, unit: Any, parent: Any, around: Instance | None, nested: tuple[Any, ...] = ()
) -> Iterator[Instance]:
    check_nested(nested, "the inlined functions of the debug information")
    for entry in parent.iter_children():
        inner = around
        if entry.tag in _INSTANCES:
            ranges = tuple(_ranges(dwarf, unit, entry))
            if ranges:
                line = entry.attributes.get("DW_AT_call_line")
                inner = Instance(
                    entry.offset, _name(entry), ranges, line.value if line else 0, around
                )
                yield inner
        yield from _instances(dwarf, unit, entry, inner, (*nested, entry))


def _ranges(dwarf: Any, unit: Any, entry: Any) -> Iterator[tuple[int, int]]:
    low, high = (entry.attributes.get(f"DW_AT_{end}_pc") for end in ("low", "high"))
    if low is not None and high is not None:
        is_size = high.form != "DW_FORM_addr"
        yield low.value, high.value + (low.value if is_size else 0)
    listed = entry.attributes.get("DW_AT_ranges")
    if listed is None:
        return
    base_entry = unit.get_top_DIE().attributes.get("DW_AT_low_pc")
    base = base_entry.value if base_entry else 0
    for part in dwarf.range_lists().get_range_list_at_offset(listed.value, unit):
        if isinstance(part, BaseAddressEntry):
            base = part.base_address
            continue
        offset = 0 if getattr(part, "is_absolute", False) else base
        yield part.begin_offset + offset, part.end_offset + offset


def _name(entry: Any) -> str:
    """Return a function's name, which may stand in the entry that it refers to."""
    for _ in range(MOST_NESTED):
        if "DW_AT_name" in entry.attributes:
            break
        for reference in ("DW_AT_abstract_origin", "DW_AT_specification"):
            if reference in entry.attributes:
                entry = entry.get_DIE_from_attribute(reference)
                break
        else:
            return ""
    return _text(entry, "DW_AT_name")


def _text(entry: Any, attribute: str) -> str:
    value = entry.attributes.get(attribute)
    return value.value.decode() if value is not None else ""


def _depth(instance: Instance) -> int:
    return 0 if instance.around is None else 1 + _depth(instance.around)
