"""How many bytes a call of memset moves: the constant that its third argument was set to."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from kmcompile.machine_code.worst_case.copied_bytes import copied_bytes
from kmcompile.machine_code.worst_case.instruction import Kind, NotUnderstoodError

MEMSET = 0x1000


def of_lines(*lines, circle=False):
    """Return what the last of some Arm instructions, one behind the other, lets memset move.

    In a circle the last one leads back to the first one, at which the function is entered.
    """
    instructions, edges, flows = {}, {}, {}
    for n, line in enumerate(lines):
        mnemonic, _, operands = line.partition(" ")
        instructions[n] = SimpleNamespace(mnemonic=mnemonic, operands=operands, next_address=n + 1)
        is_call = mnemonic == "bl"
        on = 0 if circle and n == len(lines) - 1 else n + 1
        edges[n] = [SimpleNamespace(target=on, callee=MEMSET if is_call else None)]
        kind = Kind.CALL if is_call else None
        flows[n] = SimpleNamespace(delayed=False, kind=kind)
    program = SimpleNamespace(machine="EM_ARM", names={}, instructions=instructions)
    graph = SimpleNamespace(entry=0, edges=edges, flows=flows)
    return copied_bytes(program, graph, MEMSET)


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
