"""Microchip AVR of the kind AVRe+ whose program counter has 22 bits: ATmega2560.

References
----------
AVR Instruction Set Manual, DS40002198B: the cycles of each instruction, column AVRe. RAM is inside;
an external one takes more.
"""

from __future__ import annotations

import re
from typing import Final

from kmcompile.machine_code.cycles.cycles import Cycles, exactly, names, unknown
from kmcompile.machine_code.worst_case.instruction import Instruction

_ONE: Final = names(
    """
    adc add and andi asr bclr bld bset bst cbr clc clh cli cln clr cls clt clv clz com cp cpc cpi
    dec eor in inc ldi lsl lsr mov movw neg nop or ori out rol ror sbc sbci sbr sec seh sei sen ser
    ses set sev sez sub subi swap tst wdr
    """
)
_TWO: Final = names(
    """
    adiw cbi fmul fmuls fmulsu ld ldd lds mul muls mulsu pop push sbi sbiw st std sts
    """
)
_THREE: Final = frozenset(("lpm", "elpm"))
_SKIPS: Final = frozenset(("cpse", "sbic", "sbis", "sbrc", "sbrs"))
_BRANCH: Final = re.compile(r"br(eq|ne|cs|cc|sh|lo|mi|pl|ge|lt|hs|hc|ts|tc|vs|vc|ie|id|bs|bc)")
_AWAY: Final = {
    **{"rjmp": 2, "ijmp": 2, "eijmp": 2, "jmp": 3},
    **{"rcall": 4, "icall": 4, "eicall": 4, "call": 5, "ret": 5, "reti": 5},
}


def cycles_of(
    instruction: Instruction, before: Instruction | None, after: Instruction | None
) -> Cycles:
    """Return the cycles of an instruction that is not skipped.

    A skip counts as one; what it skips costs `when_skipped`.

    Raises
    ------
    UnknownCyclesError
        If the instruction is not known.
    """
    del before, after  # no instruction waits for another one
    name = instruction.mnemonic
    if name in _ONE or name in _SKIPS:
        return Cycles(exactly(1))
    if name in _TWO:
        return Cycles(exactly(2))
    if name in _THREE:
        return Cycles(exactly(3))
    if _BRANCH.fullmatch(name):
        return Cycles(exactly(1), exactly(2))
    if name in _AWAY:
        return Cycles(None, exactly(_AWAY[name]))
    raise unknown(instruction, "an AVR")


def when_skipped(instruction: Instruction) -> int:
    """Return the cycles of an instruction where it is skipped: one for each of its words."""
    return (instruction.next_address - instruction.address) // 2
