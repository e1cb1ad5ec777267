"""Loops that avr-gcc makes of one operation: a shift by many bits, a copy of a structure."""

from __future__ import annotations

import re
from typing import Final

from kmcompile.machine_code.worst_case.disassembly import Disassembly
from kmcompile.machine_code.worst_case.flow_graph import FlowGraph
from kmcompile.machine_code.worst_case.natural_loops import MachineLoop

MOST_SHIFTS: Final = 64
"""Bits of the longest integer of C, which is more than the longest shift."""

_SHIFTS: Final = ("lsl", "lsr", "asr", "rol", "ror")
_DOUBLES: Final = ("add", "adc")
_MOVES: Final = re.compile(r"(?:ld (?P<to>r\d+), [XYZ]\+|st [XYZ]\+, r\d+)")
_BYTE: Final = 256


def most_rounds(program: Disassembly, graph: FlowGraph, loop: MachineLoop) -> int | None:
    """Return the largest number of rounds of such a loop; None for another loop.

    Such a loop counts an 8-bit register down by one in each round, and only shifts or moves bytes.
    A loop of the source may have this form too.
    """
    if program.machine != "EM_AVR" or loop.header < 0:
        return None
    inside = [program.instructions[node] for node in loop.nodes]
    texts = [" ".join(f"{one.mnemonic} {one.operands}".split()) for one in inside]
    counters = [text.split()[1] for text in texts if text.startswith("dec ")]
    branches = [text for text in texts if text.startswith("br")]
    if len(counters) != 1 or len(branches) != 1:
        return None
    others = [text for text in texts if text not in branches and not text.startswith("dec ")]
    if all(_shifts(text) for text in others) and branches[0].startswith(("brpl", "brne")):
        return MOST_SHIFTS
    moves = [_MOVES.fullmatch(text) for text in others]
    if branches[0].startswith("brne") and all(m and m["to"] != counters[0] for m in moves):
        return _start(program, graph, loop, counters[0])
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
        if re.match(rf"{counter}\b", one.operands):
            found = re.match(r"r\d+, 0x([0-9A-Fa-f]{2})\b", one.operands)
            return int(found[1], 16) or _BYTE if one.mnemonic == "ldi" and found else _BYTE
        if one.mnemonic.endswith("call"):
            break
    return _BYTE
