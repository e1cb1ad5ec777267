"""Ibex, an open core of RISC-V: RV32IMC, two stages, the fast multiplier of several cycles.

References
----------
Ibex Reference Guide of lowRISC, in the package pythondata-cpu-ibex: "Pipeline Details", the stalls
of each kind of instruction; "Instruction Decode and Execute", products and quotients. Meant is the
configuration "small": no ALU for branch targets, no stage of its own for writing back, no cache.
Memory answers in the next cycle, and what is read or written lies within a word. A divisor of 0
takes 2 cycles, but C has none.

"Instruction Fetch" of the same guide: words are fetched. A jump to an instruction of 4 bytes that
lies across two words waits for the second one, a cycle more.
"""

from __future__ import annotations

from typing import Final

from kmcompile.machine_code.cycles.cycles import Cycles, exactly, names, unknown
from kmcompile.machine_code.worst_case.instruction import Instruction

_ONE: Final = names(
    """
    add addi and andi auipc c.nop c.slli csrc csrci csrr csrrc csrrci csrrs csrrsi csrrw csrrwi csrs
    csrsi csrw csrwi li lui mv neg nop not or ori seqz sgtz sll slli slt slti sltiu sltu sltz snez
    sra srai srl srli sub xor xori zext.b
    """
)
_TWO: Final = names("lb lbu lh lhu lw sb sh sw")
_PRODUCTS: Final = {"mul": 3, "mulh": 4, "mulhsu": 4, "mulhu": 4}
_QUOTIENTS: Final = names("div divu rem remu")
_QUOTIENT_CYCLES: Final = 37
_JUMPS: Final = names("j jal jr jalr ret")
_BRANCHES: Final = names(
    """
    beq beqz bge bgeu bgez bgt bgtu bgtz ble bleu blez blt bltu bltz bne bnez
    """
)


def cycles_of(
    instruction: Instruction, before: Instruction | None, after: Instruction | None
) -> Cycles:
    """Return the cycles of an instruction.

    Raises
    ------
    UnknownCyclesError
        If the instruction is not known.
    """
    del before, after  # no instruction waits for another one
    name = instruction.mnemonic
    if name in _ONE:
        return Cycles(exactly(1))
    if name in _TWO:
        return Cycles(exactly(2))
    if name in _PRODUCTS:
        return Cycles(exactly(_PRODUCTS[name]))
    if name in _QUOTIENTS:
        return Cycles(exactly(_QUOTIENT_CYCLES))
    if name in _JUMPS:
        return Cycles(None, exactly(2), across=1)
    if name in _BRANCHES:
        return Cycles(exactly(1), exactly(3), across=1)
    raise unknown(instruction, "an Ibex")
