"""Loops that avr-gcc makes of one operation: a shift by many bits, a copy of a structure."""

from __future__ import annotations

import re
from typing import Final

from kmcompile.machine_code.worst_case.disassembly import Disassembly
from kmcompile.machine_code.worst_case.flow_graph import FlowGraph
from kmcompile.machine_code.worst_case.natural_loops import MachineLoop

_SHIFTS: Final = ("lsl", "lsr", "asr", "rol", "ror")
_DOUBLES: Final = ("add", "adc")
_MOVES: Final = re.compile(r"(?:ld (?P<to>r\d+), [XYZ]\+|st [XYZ]\+, r\d+)")
_BYTE: Final = 256
_INT: Final = 16
"""Bits of int, to which C widens what it shifts."""


def most_rounds(program: Disassembly, graph: FlowGraph, loop: MachineLoop) -> int | None:
    """Return the largest number of rounds of such a loop; None for another loop.

    Such a loop counts an 8-bit register down by one in each round, and only shifts or moves bytes.
    A loop of the source may have this form too.
    """
    if program.machine != "EM_AVR" or min(loop.nodes) < 0 or len(loop.nodes) < 3:
        return None
    inside = [program.instructions[node] for node in sorted(loop.nodes)]
    *others, down, branch = [" ".join(f"{one.mnemonic} {one.operands}".split()) for one in inside]
    counter, down_to_zero = down.split()[-1], branch.startswith("brne")
    changed = any(re.search(rf"\b{counter}\b", text) for text in others)
    if not down.startswith("dec ") or changed or not others:
        return None  # the branch is to test the counter
    if all(_shifts(text) for text in others) and (down_to_zero or branch.startswith("brpl")):
        bits = 8 * len({text.split()[1].rstrip(",") for text in others})
        most = max(bits, _INT) - 1  # a shift by all bits has no meaning in C
        return min(most, _start(program, graph, loop, counter) - down_to_zero)
    moves = [_MOVES.fullmatch(text) for text in others]
    if down_to_zero and all(moves):
        return _start(program, graph, loop, counter) - 1
    return None


def _shifts(text: str) -> bool:
    name, _, operands = text.partition(" ")
    registers = {register.strip() for register in operands.split(",")}
    return name in _SHIFTS or (name in _DOUBLES and len(registers) == 1)


def _start(program: Disassembly, graph: FlowGraph, loop: MachineLoop, counter: str) -> int:
    """Return the constant in the counter before the loop, or the largest value of a byte."""
    before: dict[int, list[int]] = {}
    for node, edges in graph.edges.items():
        for edge in edges:
            before.setdefault(edge.target, []).append(node)
    node = loop.header
    for _ in graph.edges:
        last = [other for other in before.get(node, []) if other not in loop.nodes]
        if node == graph.entry or len(last) != 1 or len(graph.edges[last[0]]) != 1:
            break  # an entry is also reached from outside
        node = last[0]
        if node not in program.instructions:
            break
        one = program.instructions[node]
        if _changes_unnamed(f"{one.mnemonic} {one.operands}", counter):
            break
        if re.match(rf"{counter}\b", one.operands):
            found = re.match(r"r\d+, 0x([0-9A-Fa-f]{2})\b", one.operands)
            return int(found[1], 16) or _BYTE if one.mnemonic == "ldi" and found else _BYTE
        if one.mnemonic.endswith("call"):
            break
    return _BYTE


def _changes_unnamed(text: str, register: str) -> bool:
    """Return whether an instruction may change a register without its name: half of a pair."""
    number = int(register[1:])
    pair = {26: "X", 28: "Y", 30: "Z"}.get(number - number % 2)
    moved = re.match(rf"(?:movw|adiw|sbiw) r{number - 1}\b", " ".join(text.split()))
    return bool(moved and number % 2) or (pair is not None and pair in text)
