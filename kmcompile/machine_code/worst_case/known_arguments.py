"""Constants in the arguments of calls: the bytes of a copy, the bits of a shift of 64 bits."""

from __future__ import annotations

import re
from typing import Final

from kmcompile.machine_code.worst_case.disassembly import Disassembly
from kmcompile.machine_code.worst_case.flow_graph import FlowGraph
from kmcompile.machine_code.worst_case.instruction import Kind, NotUnderstoodError

COPYING: Final = ("memcpy", "memset", "memmove")
SHIFTING: Final = ("__ashldi3", "__ashrdi3", "__lshrdi3")
"""Routines of avr-gcc: by 8 bits while at least 8 are left, then bit by bit."""
_NUMBER: Final = r"#?(?P<number>-?(?:0x)?[0-9a-fA-F]+)"
_THIRD: Final = {
    "EM_ARM": (r"\br2\b", rf"mov[sw]?(?:\.[nw])? r2, {_NUMBER}"),
    "EM_AARCH64": (r"\b[xw]2\b", rf"mov [xw]2, {_NUMBER}"),
    "EM_RISCV": (r"\ba2\b", rf"li a2,{_NUMBER}"),
    "EM_PPC": (r"\br5\b", rf"li r5,{_NUMBER}"),
    "EM_SPARC": (r"%o2\b", rf"mov {_NUMBER}, %o2"),
    "EM_SPARC32PLUS": (r"%o2\b", rf"mov {_NUMBER}, %o2"),
}
"""Machine -> the register of the third argument, and the instruction that sets it to a constant."""
_ONLY_READS: Final = {"EM_ARM": r"add(?:\.[nw]|w)? (?!r2,)\w+, \w+, r2"}
"""Machine -> the instruction that reads this register and writes another."""
_BITS: Final = (r"\br16\b", rf"ldi r16, {_NUMBER}\b.*")


def copied_bytes(program: Disassembly, graph: FlowGraph, callee: int) -> int:
    """Return the largest number of bytes that a function lets a copying routine move in a call.

    Raises
    ------
    NotUnderstoodError
        If the number of bytes of a call is no constant that is set right before the call.
    """
    if program.machine not in _THIRD:
        raise NotUnderstoodError(f"{program.names[graph.entry]}: how much is copied is not known")
    return max(_constants(program, graph, callee, *_THIRD[program.machine]))


def shifted_bits(program: Disassembly, graph: FlowGraph, callee: int) -> frozenset[int] | None:
    """Return the bits by which a function lets such a routine shift; None if they are not known."""
    if program.machine != "EM_AVR":
        return None
    try:
        return _constants(program, graph, callee, *_BITS)
    except NotUnderstoodError:
        return None


def _constants(
    program: Disassembly, graph: FlowGraph, callee: int, register: str, sets: str
) -> frozenset[int]:
    """Return the constants in a register at all calls of a routine."""
    before: dict[int, list[int]] = {}
    for node, edges in graph.edges.items():
        for edge in edges:
            before.setdefault(edge.target, []).append(node)
    calls = [n for n, edges in graph.edges.items() if any(e.callee == callee for e in edges)]
    return frozenset(_constant(program, graph, before, call, register, sets) for call in calls)


def _constant(
    program: Disassembly,
    graph: FlowGraph,
    before: dict[int, list[int]],
    call: int,
    register: str,
    sets: str,
) -> int:
    where = f"{program.names.get(graph.entry, hex(graph.entry))} at {call:#x}"
    node = call
    if graph.flows[call].delayed:
        node = program.instructions[call].next_address
    for _ in range(len(graph.edges) + 1):
        instruction = program.instructions.get(node)
        text = f"{instruction.mnemonic} {instruction.operands}" if instruction else ""
        if found := re.fullmatch(sets, text.strip()):
            return int(found["number"], 0)
        last = [call] if node not in before and node != call else before.get(node, [])
        if node == graph.entry:  # also reached from outside
            last = []
        called = node != call and graph.flows.get(node) and graph.flows[node].kind is Kind.CALL
        reads = re.fullmatch(_ONLY_READS.get(program.machine, "(?!)"), text.strip())
        changes = node != call and not reads and re.search(register, text)
        if len(last) != 1 or called or changes:
            break
        node = last[0]
    raise NotUnderstoodError(f"{where}: how much is copied is not known")
