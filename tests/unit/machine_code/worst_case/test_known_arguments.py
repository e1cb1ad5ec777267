"""Constants in arguments: the bytes that memset moves, the bits of a shift of 64 bits."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kmcompile.machine_code.worst_case.instruction import Kind, NotUnderstoodError
from kmcompile.machine_code.worst_case.known_arguments import copied_bytes, shifted_bits

MEMSET = 0x1000


def of_lines(*lines, circle=False, machine="EM_ARM", asked=copied_bytes):
    """Return what the last of some instructions, one behind the other, lets memset move.

    In a circle the last one leads back to the first one, at which the function is entered.
    """
    instructions, edges, flows = {}, {}, {}
    for n, line in enumerate(lines):
        mnemonic, _, operands = line.partition(" ")
        instructions[n] = SimpleNamespace(mnemonic=mnemonic, operands=operands, next_address=n + 1)
        is_call = mnemonic in ("bl", "call")
        on = 0 if circle and n == len(lines) - 1 else n + 1
        edges[n] = [SimpleNamespace(target=on, callee=MEMSET if is_call else None)]
        kind = Kind.CALL if is_call else None
        flows[n] = SimpleNamespace(delayed=False, kind=kind)
    program = SimpleNamespace(machine=machine, names={}, instructions=instructions)
    graph = SimpleNamespace(entry=0, edges=edges, flows=flows)
    return asked(program, graph, MEMSET)


@pytest.mark.parametrize("between", ["ldr.w r9, [pc, #428]", "add.w r0, sp, r2", "add r0, sp, r2"])
def test_instructions_that_do_not_change_the_number_stand_between(between):
    assert of_lines("movs r2, #32", between, "bl 0 <memset>") == 32


@pytest.mark.parametrize("between", ["add.w r2, sp, r2", "lsl r2, r2, #2", "ldmia r1!, {r0, r2}"])
def test_what_may_change_the_number_is_not_passed(between):
    with pytest.raises(NotUnderstoodError):
        of_lines("movs r2, #32", between, "bl 0 <memset>")


@pytest.mark.parametrize("lines", [["bl 0 <memset>"], ["nop", "bl 0 <memset>", "movs r2, #32"]])
def test_a_number_that_is_set_behind_the_call_is_not_reached_through_the_entry(lines):
    with pytest.raises(NotUnderstoodError):
        of_lines(*lines, circle=True)


@pytest.mark.parametrize(
    ("lines", "bits"),
    [
        (["ldi r16, 0x13\t; 19", "movw r20, r14", "call 0x80fe"], {19}),
        (["ldi r16, 0x1F", "call 0x80fe"], {31}),
        (["ldi r16, 0x13", "movw r16, r14", "call 0x80fe"], None),
        (["ldi r16, 0x13", "ldd r16, Y+55", "call 0x80fe"], None),
        (["mov r16, r24", "call 0x80fe"], None),
    ],
)
def test_the_bits_of_a_shift_are_a_constant_in_r16(lines, bits):
    assert of_lines(*lines, machine="EM_AVR", asked=shifted_bits) == bits
