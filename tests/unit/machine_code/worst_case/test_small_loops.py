"""Rounds of loops that copy a structure or shift: told by the constant in their counters."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kmcompile.machine_code.worst_case.flow_graph import Edge
from kmcompile.machine_code.worst_case.small_loops import most_rounds

COPY = ("ld r0, X+", "st Z+, r0", "dec r18", "brne .-8")
SHIFT = ("lsr r25", "ror r24", "dec r18", "brne .-8")


def rounds_of(first, loop, second="nop"):
    """Return the rounds of a loop in a circle, entered at `first`, which sets r18 again later."""
    lines = [first, second, *loop, "ldi r18, 0x03", "rjmp .-14"]
    instructions, edges = {}, {}
    for n, line in enumerate(lines):
        mnemonic, _, operands = line.partition(" ")
        instructions[n] = SimpleNamespace(mnemonic=mnemonic, operands=operands)
        edges[n] = (Edge((n + 1) % len(lines), 1),)
    end = 1 + len(loop)
    edges[end] = (Edge(2, 1), *edges[end])
    program = SimpleNamespace(machine="EM_AVR", instructions=instructions)
    graph = SimpleNamespace(entry=0, edges=edges)
    return most_rounds(
        program, graph, SimpleNamespace(header=2, nodes=frozenset(range(2, end + 1)))
    )


@pytest.mark.parametrize(("first", "rounds"), [("ldi r18, 0x05", 4), ("nop", 255)])
def test_the_constant_of_a_later_round_is_not_that_of_the_first(first, rounds):
    assert rounds_of(first, COPY) == rounds


@pytest.mark.parametrize("loop", [COPY, SHIFT])
def test_a_move_of_a_pair_may_change_the_counter_without_its_name(loop):
    loop = [line.replace("r18", "r19") for line in loop]
    most = rounds_of("ldi r19, 0x05", loop, "movw r18, r24")
    assert rounds_of("ldi r19, 0x05", loop) == 4 < most == rounds_of("nop", loop)


WIDER = ("lsr r27", "ror r26", "ror r25", *SHIFT[1:])


@pytest.mark.parametrize(
    ("first", "loop", "last", "rounds"),
    [
        ("ldi r18, 0x05", SHIFT, "brne", 4),
        ("ldi r18, 0x05", SHIFT, "brpl", 5),
        ("mov r18, r20", SHIFT, "brpl", 15),
        ("mov r18, r20", WIDER, "brpl", 31),
    ],
)
def test_no_shift_is_longer_than_the_integer(first, loop, last, rounds):
    """A counter that goes below 0 makes one round more than one that goes to 0."""
    assert rounds_of(first, (*loop[:-1], f"{last} .-8")) == rounds


@pytest.mark.parametrize(
    "loop",
    [
        ("dec r18", "lsl r24", "rol r25", "brne .-8"),
        ("lsl r24", "rol r25", "dec r24", "brne .-8"),
        ("lsr r25", "lsr r18", "dec r18", "brne .-8"),
        ("ld r18, X+", "st Z+, r18", "dec r18", "brne .-8"),
    ],
)
def test_a_loop_that_ends_by_something_else_has_no_bound(loop):
    assert rounds_of("ldi r18, 0x05", loop) is None
