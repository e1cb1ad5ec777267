"""Rounds of a loop that copies a structure: told by the constant in its counter."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kmcompile.machine_code.worst_case.flow_graph import Edge
from kmcompile.machine_code.worst_case.small_loops import most_rounds

LOOP = ("ld r0, X+", "st Z+, r0", "dec r18", "brne .-8")


@pytest.mark.parametrize(("first", "rounds"), [("ldi r18, 0x05", 5), ("nop", 256)])
def test_the_constant_of_a_later_round_is_not_that_of_the_first(first, rounds):
    """The code is a circle, entered at its first instruction, and sets r18 again at its end."""
    lines = [first, *LOOP, "ldi r18, 0x03", "rjmp .-14"]
    instructions, edges = {}, {}
    for n, line in enumerate(lines):
        mnemonic, _, operands = line.partition(" ")
        instructions[n] = SimpleNamespace(mnemonic=mnemonic, operands=operands)
        edges[n] = (Edge((n + 1) % len(lines), 1),)
    edges[4] = (Edge(1, 1), *edges[4])
    program = SimpleNamespace(machine="EM_AVR", instructions=instructions)
    graph = SimpleNamespace(entry=0, edges=edges)
    loop = SimpleNamespace(header=1, nodes=frozenset(range(1, 5)))
    assert most_rounds(program, graph, loop) == rounds
