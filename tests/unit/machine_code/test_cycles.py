"""Clock cycles of instructions, and of what they go to, as the manuals of the cores have them."""

from __future__ import annotations

import json

import pytest

from kmcompile.machine_code.cycles.avr import when_skipped
from kmcompile.machine_code.cycles.cores import BY_CORE
from kmcompile.machine_code.cycles.cycles import Range, UnknownCyclesError
from kmcompile.machine_code.cycles.image_cycles import ImageCycles
from kmcompile.machine_code.worst_case.disassembly import Disassembly
from kmcompile.machine_code.worst_case.flow_graph import read_flow_graph
from kmcompile.machine_code.worst_case.instruction import Instruction, target_of
from kmcompile.resources import targets_dir
from kmcompile.target import list_targets


def instruction(text, address=0, size=2):
    """Return the instruction of a line of a disassembly."""
    mnemonic, _, operands = text.partition(" ")
    return Instruction(address, address + size, mnemonic, operands, "", target_of(operands))


def cycles(core, text, before="nop", after="nop"):
    """Return (on, away) of an instruction between two others, each as a pair or None."""
    beside = [None if one is None else instruction(one) for one in (before, after)]
    found = BY_CORE[core](instruction(text), *beside)
    return tuple(one and (one.low, one.high) for one in (found.on, found.away))


AVR = {
    "add r24, r25": ((1, 1), None),
    "ldi r24, 0x10": ((1, 1), None),
    "movw r24, r22": ((1, 1), None),
    "out 0x3f, r0": ((1, 1), None),
    "adiw r24, 0x01": ((2, 2), None),
    "mul r24, r25": ((2, 2), None),
    "ld r24, Z+": ((2, 2), None),
    "ldd r24, Y+3": ((2, 2), None),
    "sts 0x0200, r24": ((2, 2), None),
    "push r28": ((2, 2), None),
    "sbi 0x05, 7": ((2, 2), None),
    "lpm r24, Z+": ((3, 3), None),
    "elpm r24, Z": ((3, 3), None),
    "sbrc r24, 7": ((1, 1), None),
    "cpse r24, r25": ((1, 1), None),
    "brne .-4 ; 0x10 <f>": ((1, 1), (2, 2)),
    "rjmp .-4 ; 0x10 <f>": (None, (2, 2)),
    "jmp 0x10 ; 0x10 <f>": (None, (3, 3)),
    "ijmp": (None, (2, 2)),
    "rcall .+0 ; 0x10 <f>": (None, (4, 4)),
    "eicall": (None, (4, 4)),
    "call 0x10 ; 0x10 <f>": (None, (5, 5)),
    "ret": (None, (5, 5)),
}
M0 = {
    "adds r0, r0, r1": ((1, 1), None),
    "lsls r0, r1, #2": ((1, 1), None),
    "muls r0, r1": ((1, 1), None),
    "uxtb r0, r0": ((1, 1), None),
    "ldr r0, [pc, #4]": ((2, 2), None),
    "strb r0, [r1, r2]": ((2, 2), None),
    "ldmia r0!, {r1, r2, r3}": ((4, 4), None),
    "push {r4, r5, r6, lr}": ((5, 5), None),
    "pop {r4, r5}": ((3, 3), None),
    "pop {r4, r5, pc}": (None, (7, 7)),
    "mov pc, r3": (None, (3, 3)),
    "add pc, r3": (None, (3, 3)),
    "bls.n 10 <f>": ((1, 1), (3, 3)),
    "b.n 10 <f>": (None, (3, 3)),
    "bl 10 <f>": (None, (4, 4)),
    "bx lr": (None, (3, 3)),
}
M0PLUS = M0 | {
    "pop {r4, r5, pc}": (None, (6, 6)),
    "mov pc, r3": (None, (2, 2)),
    "add pc, r3": (None, (2, 2)),
    "bls.n 10 <f>": ((1, 1), (2, 2)),
    "b.n 10 <f>": (None, (2, 2)),
    "bl 10 <f>": (None, (3, 3)),
    "bx lr": (None, (2, 2)),
}
M3 = {
    "adds.w r0, r0, r1": ((1, 1), None),
    "movsne.w r3, r1, lsl #1": ((1, 1), None),
    "ubfx r0, r1, #3, #8": ((1, 1), None),
    "it ne": ((0, 1), None),
    "mul r0, r1, r2": ((1, 1), None),
    "mla r0, r1, r2, r3": ((2, 2), None),
    "umull r0, r1, r2, r3": ((3, 5), None),
    "smlal r0, r1, r2, r3": ((4, 7), None),
    "smlalne r0, r1, r2, r3": ((1, 7), None),
    "udiv r0, r1, r2": ((2, 12), None),
    "ldr r0, [r1, #4]": ((1, 2), None),
    "ldr r0, [pc, #4]": ((1, 3), None),
    "str.w r0, [r1, r2]": ((1, 2), None),
    "ldrd r0, r1, [sp, #8]": ((3, 3), None),
    "ldrd r0, r1, [pc, #8]": ((3, 4), None),
    "stmdb sp!, {r4-r7, lr}": ((6, 6), None),
    "pop {r4, pc}": (None, (4, 7)),
    "popne {r4, pc}": ((1, 1), (4, 7)),
    "beq.n 10 <f>": ((1, 1), (2, 4)),
    "b.w 10 <f>": (None, (2, 4)),
    "cbz r0, 10 <f>": ((1, 1), (2, 4)),
    "bl 10 <f>": (None, (2, 4)),
    "bxeq lr": ((1, 1), (2, 4)),
    "tbb [pc, r0]": (None, (3, 6)),
    "ldr.w pc, [sp], #4": (None, (3, 7)),
}
M4 = M3 | {
    "mla r0, r1, r2, r3": ((1, 1), None),
    "umull r0, r1, r2, r3": ((1, 1), None),
    "smlal r0, r1, r2, r3": ((1, 1), None),
    "smlalne r0, r1, r2, r3": ((1, 1), None),
    "smlad r0, r1, r2, r3": ((1, 1), None),
    "sxtab16 r0, r1, r2": ((1, 1), None),
    "vadd.f32 s0, s1, s2": ((1, 1), None),
    "vmul.f32 s0, s1, s2": ((1, 1), None),
    "vfma.f32 s0, s1, s2": ((3, 3), None),
    "vmla.f32 s0, s1, s2": ((3, 3), None),
    "vdiv.f32 s0, s1, s2": ((1, 14), None),
    "vsqrt.f32 s0, s1": ((1, 14), None),
    "vcmpe.f32 s0, #0.0": ((1, 2), None),
    "vcvt.s32.f32 s0, s1": ((1, 1), None),
    "vmrs APSR_nzcv, fpscr": ((1, 1), None),
    "vmov.f32 s0, s1": ((1, 1), None),
    "vmov s0, r1": ((1, 2), None),
    "vldr s0, [r1]": ((1, 2), None),
    "vldr d0, [r1]": ((3, 3), None),
    "vldr s0, [pc, #4]": ((1, 3), None),
    "vldr d0, [pc, #4]": ((3, 4), None),
    "vldmia r0!, {s0-s3}": ((5, 5), None),
    "vpush {d8-d9}": ((5, 5), None),
    "vnegmi.f32 s0, s1": ((1, 1), None),
}
IBEX = {
    "add a0,a0,a1": ((1, 1), None),
    "csrr a0,mcycle": ((1, 1), None),
    "lw a0,4(sp)": ((2, 2), None),
    "sb a0,0(a1)": ((2, 2), None),
    "mul a0,a0,a1": ((3, 3), None),
    "mulhu a0,a0,a1": ((4, 4), None),
    "remu a0,a0,a1": ((37, 37), None),
    "bltu a0,a1,10 <f>": ((1, 1), (3, 3)),
    "jal ra,10 <f>": (None, (2, 2)),
    "ret": (None, (2, 2)),
}


@pytest.mark.parametrize(
    ("core", "table"),
    [
        ("avr-22", AVR),
        ("cortex-m0", M0),
        ("cortex-m0plus", M0PLUS),
        ("cortex-m3", M3),
        ("cortex-m4", M4),
        ("ibex", IBEX),
    ],
)
def test_cycles_are_those_of_the_manual(core, table):
    assert {text: cycles(core, text) for text in table} == table


@pytest.mark.parametrize(
    ("core", "text"),
    [
        ("avr-22", "sleep"),
        ("avr-22", "xch Z, r24"),
        ("cortex-m0", "bkpt 0x00ab"),
        ("cortex-m0", "udiv r0, r1, r2"),
        ("cortex-m3", "dsb sy"),
        ("cortex-m3", "smlad r0, r1, r2, r3"),
        ("cortex-m3", "vadd.f32 s0, s1, s2"),
        ("cortex-m4", "vrintz.f64 d0, d1"),
        ("cortex-m4", "blsx r0"),
        ("ibex", "fence.i"),
    ],
)
def test_what_the_manual_does_not_tell_is_an_error(core, text):
    with pytest.raises(UnknownCyclesError, match=r"cycles .* takes on a.* is not known"):
        cycles(core, text)


@pytest.mark.parametrize(
    ("before", "waits"),
    [
        ("add r1, r2", True),
        ("adds r1, #4", True),
        ("add r3, r2", False),
        ("umull r3, r1, r2, r4", True),
        ("it eq", True),
        ("ldr r1, [r5]", False),
        (None, True),
    ],
)
@pytest.mark.parametrize("text", ["ldr r0, [r1, #4]", "strh r0, [r2, r1]", "ldmia r1, {r2, r3}"])
def test_an_address_may_wait_for_the_instruction_before(text, before, waits):
    on, _ = cycles("cortex-m4", text, before)
    usual, _ = cycles("cortex-m4", text)
    assert on == (usual[0], usual[1] + waits)


@pytest.mark.parametrize(
    ("after", "waits"),
    [
        ("vmul.f32 s3, s0, s1", True),
        ("vstr s0, [r0]", True),
        ("vmov d0, r0, r1", True),
        ("vmul.f32 s3, s4, s1", False),
        ("add r0, r1", False),
        (None, True),
    ],
)
@pytest.mark.parametrize(
    "text", ["vadd.f32 s0, s1, s2", "vfma.f32 s0, s1, s2", "vdiv.f32 s0, s1, s2"]
)
def test_a_float_may_be_waited_for(text, after, waits):
    on, _ = cycles("cortex-m4", text, after=after)
    usual, _ = cycles("cortex-m4", text)
    assert on == (usual[0], usual[1] + waits)


def code(*lines, machine="EM_AVR"):
    """Return a function `f` of instructions, each as its text and its bytes."""
    listed, address = {}, 0
    for text, size in lines:
        listed[address] = instruction(text, address, size)
        address += size
    return Disassembly(machine, True, listed, {"f": 0}, {0: "f"}, {}, ())


SKIPPING = code(
    ("sbrc r24, 7", 2),
    ("call 10 <g>", 4),
    ("sbrs r24, 6", 2),
    ("ldd r24, Y+1", 2),
    ("cpse r24, r25", 2),
    ("rjmp .+2 ; 10 <f+0x10>", 2),
    ("ret", 2),
)


def test_a_skipped_instruction_takes_a_cycle_for_each_of_its_words():
    assert [when_skipped(SKIPPING.instructions[at]) for at in (2, 8, 12)] == [2, 1, 1]
    rows = [
        tuple(map(int, line.split()))
        for line in ImageCycles(SKIPPING, "avr-22").table().splitlines()
    ]
    assert rows == [
        (0, 2, 1, 1, 1, 1),
        (2, 6, 2, 2, 5, 5),  # goes on only where it is skipped
        (6, 8, 1, 1, 1, 1),
        (8, 10, 1, 2, 2, 2),  # goes on in both cases
        (10, 12, 1, 1, 1, 1),
        (12, 14, 1, 1, 2, 2),
        (14, 16, 5, 5, 5, 5),
    ]


def test_edges_of_a_flow_graph_take_the_most_cycles():
    program = code(
        ("sbrc r24, 7", 2),
        ("ldd r24, Y+1", 2),
        ("brne .-6 ; 0 <f>", 2),
        ("rjmp .+0 ; 8 <f+8>", 2),
        ("ret", 2),
    )
    graph, image = read_flow_graph(program, 0), ImageCycles(program, "avr-22")
    found = {
        (node, e.target): image.most_on(node, e) for node, ways in graph.edges.items() for e in ways
    }
    assert found == {
        (0, 2): 1,
        (0, 4): 2,
        (2, 4): 2,
        (4, 0): 2,
        (4, 6): 1,
        (6, 8): 2,
        (8, -1): 5,
    }


def test_on_ibex_a_jump_across_words_takes_a_cycle_more():
    program = code(
        ("beqz a0,6 <f+0x6>", 4),
        ("c.nop", 2),
        ("bnez a0,c <f+0xc>", 4),  # lies across two words
        ("j a <f+0xa>", 2),  # to itself: it is in one word
        ("ret", 2),
        machine="EM_RISCV",
    )
    rows = [
        tuple(map(int, line.split())) for line in ImageCycles(program, "ibex").table().splitlines()
    ]
    assert rows == [
        (0, 4, 1, 1, 4, 4),
        (4, 6, 1, 1, 1, 1),
        (6, 10, 1, 1, 3, 3),
        (10, 12, 2, 2, 2, 2),
        (12, 14, 2, 3, 2, 3),  # what it returns to is not known
    ]


def test_ranges_add_and_join():
    assert Range(1, 2) + Range(3, 5) == Range(4, 7)
    assert Range(1, 2) | Range(3, 5) == Range(1, 5)


def test_every_target_has_a_known_core_or_a_reason():
    schema = json.loads((targets_dir() / "schema.json").read_text(encoding="utf-8"))
    assert set(schema["properties"]["time"]["properties"]["core"]["enum"]) == set(BY_CORE)
    for target in list_targets():
        if target.emulator is not None:
            assert bool(target.time.core) != bool(target.time.unknown)
