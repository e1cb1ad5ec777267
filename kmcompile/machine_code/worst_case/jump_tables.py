"""The targets of jumps by a table, as compilers make them of a switch."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, Literal

from kmcompile.machine_code.limits import MOST_STEPS
from kmcompile.machine_code.worst_case.disassembly import Disassembly
from kmcompile.machine_code.worst_case.instruction import Instruction, NotUnderstoodError

_BEFORE: Final = 12
_LIMIT: Final = re.compile(r"(?:cmp \w+, #|cmp %\w+, |cmplwi +(?:cr\d,)?\w+,)(\d+)$")
_CONSTANT: Final = re.compile(r"li (\w+),(\d+)$")  # RISC-V, for a branch that compares with it
_PLACE: Final = re.compile(r"(?:\(|[#!] |\b0x)([0-9a-f]+)(?: <|\))")
_WIDTHS: Final = {
    "tbb": (1, False),
    "tbh": (2, False),
    "ldr": (4, False),
    "__gnu_thumb1_case_uqi": (1, False),
    "__gnu_thumb1_case_sqi": (1, True),
    "__gnu_thumb1_case_uhi": (2, False),
    "__gnu_thumb1_case_shi": (2, True),
}
"""Bytes of an entry and whether it is signed; an entry of fewer than four counts halfwords."""


def table_targets(
    program: Disassembly, instruction: Instruction
) -> Iterator[tuple[int, int | None]]:
    """Yield the targets of a jump by a table, each with the library routine that jumps, if any.

    All data behind an Arm jump counts as entries; an entry that only fills up gives no target or
    one target too many. A table elsewhere is found by the instructions before the jump, which
    compare the index of the entry and name the table.

    Raises
    ------
    NotUnderstoodError
        If the table is not found.
    """
    routine = program.names.get(instruction.target) if instruction.target else None
    width, signed = _WIDTHS.get(routine or instruction.mnemonic[:3], (0, False))
    if width == 0:
        yield from ((target, None) for target in _elsewhere(program, instruction))
        return
    if width == 4:
        yield from _words(program, instruction)
        return
    base = address = instruction.next_address
    callee = instruction.target if routine else None
    order: Literal["little", "big"] = "little" if program.is_little else "big"
    targets: set[int] = set()
    while all(address + i in program.data for i in range(width)):
        entry = bytes(program.data[address + i] for i in range(width))
        targets.add(base + 2 * int.from_bytes(entry, order, signed=signed))
        address += width
    for target in sorted(targets & program.instructions.keys()):
        yield target, callee


def _words(program: Disassembly, instruction: Instruction) -> Iterator[tuple[int, int | None]]:
    """Yield the addresses in the words behind the instruction after the jump, in Arm state."""
    address = instruction.address + 8
    while all(address + i in program.data for i in range(4)):
        target = int.from_bytes(bytes(program.data[address + i] for i in range(4)), "little")
        if target in program.instructions:
            yield target, None
        address += 4


def table_limits(texts: list[str]) -> list[int]:
    """Return the constants in comparisons, one of which is the index of the last entry."""
    compared = {text.partition(" ")[2].split(",")[0] for text in texts if text.startswith("bltu ")}
    limits = [int(found[1]) for text in texts if (found := _LIMIT.match(text))]
    constants = [found for text in texts if (found := _CONSTANT.match(text))]
    return limits + [int(found[2]) for found in constants if found[1] in compared]


def _elsewhere(program: Disassembly, jump: Instruction) -> list[int]:
    """Return the targets in a table of words: addresses, or distances from the table."""
    before = [i for a, i in program.instructions.items() if jump.address - 48 <= a < jump.address]
    texts = [f"{i.mnemonic} {i.operands}" for i in before[-_BEFORE:]]
    limits = table_limits(texts)
    places = [int(found[1], 16) for i in before if (found := _PLACE.search(i.comment))]
    tables = places + [word for place in places if (word := program.word(place)) is not None]
    function = program.function_at(jump.address)
    first, end = program.functions[function], program.end_of(jump.address)
    for table in tables if limits and max(limits) < MOST_STEPS else ():
        words = [program.word(table + 4 * i) for i in range(max(limits) + 1)]
        if None in words:
            continue
        for base in (0, table):
            targets = {(base + (word or 0)) & 0xFFFFFFFF for word in words}
            if all(first < target < end and target in program.instructions for target in targets):
                return sorted(targets)
    text = f"{jump.mnemonic} {jump.operands}".strip()
    where = f"{function} at {jump.address:#x}"
    raise NotUnderstoodError(f"{where}: the table of the jump {text!r} is not known")
