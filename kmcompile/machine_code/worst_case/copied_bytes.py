"""The number of bytes of a call of memcpy or memset: the constant in its third argument."""

from __future__ import annotations

import re
from typing import Final

from kmcompile.machine_code.worst_case.disassembly import Disassembly
from kmcompile.machine_code.worst_case.flow_graph import FlowGraph
from kmcompile.machine_code.worst_case.instruction import Kind, NotUnderstoodError

COPYING: Final = ("memcpy", "memset", "memmove")
_NUMBER: Final = r"#?(?P<number>-?(?:0x)?[0-9a-f]+)"
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


def copied_bytes(program: Disassembly, graph: FlowGraph, callee: int) -> int:
    """Return the largest number of bytes that a function lets a copying routine move in a call.

    Raises
    ------
    NotUnderstoodError
        If the number of bytes of a call is no constant that is set right before the call.
    """
    before: dict[int, list[int]] = {}
    for node, edges in graph.edges.items():
        for edge in edges:
            before.setdefault(edge.target, []).append(node)
    calls = [n for n, edges in graph.edges.items() if any(e.callee == callee for e in edges)]
    return max(_constant(program, graph, before, call) for call in calls)


def _constant(
    program: Disassembly, graph: FlowGraph, before: dict[int, list[int]], call: int
) -> int:
    where = f"{program.names.get(graph.entry, hex(graph.entry))} at {call:#x}"
    if program.machine not in _THIRD:
        raise NotUnderstoodError(f"{where}: how much is copied is not known")
    register, sets = _THIRD[program.machine]
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
