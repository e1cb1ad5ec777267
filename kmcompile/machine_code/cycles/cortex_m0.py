"""Arm Cortex-M0: every instruction takes a fixed number of cycles.

References
----------
Cortex-M0 Technical Reference Manual, DDI 0432C, table 3-1: cycles without wait states. The fast
multiplier takes one cycle, the small one 32; the parts that the target stands for have the fast one
(nRF51 Series Reference Manual 3.0, section 3; STM32F0 programming manual PM0215, table 12).
"""

from __future__ import annotations

from typing import Final

from kmcompile.machine_code.cycles.cycles import Cycles, exactly, names, unknown
from kmcompile.machine_code.cycles.thumb import Thumb
from kmcompile.machine_code.worst_case.instruction import Instruction

_ONE: Final = names(
    """
    adc add adr and asr bic cmn cmp cpy eor lsl lsr mov mul mvn neg nop orr rev rev16 revsh ror rsb
    sbc sub sxtb sxth tst uxtb uxth
    """
)
_TWO: Final = names("ldr ldrb ldrh ldrsb ldrsh str strb strh")
_SEVERAL: Final = names("ldm ldmia stm stmia push pop")
_AWAY: Final = {"bl": 4, "bx": 3, "blx": 3}
_KNOWN: Final = _ONE | _TWO | _SEVERAL | {"b"} | _AWAY.keys()
_BRANCH, _TO_PC, _POP_PC = 3, 3, 4


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
    one = Thumb(instruction, _KNOWN)
    if one.name in ("add", "mov") and one.loads_pc:
        return Cycles(None, exactly(_TO_PC))
    if one.name in _ONE:
        return Cycles(exactly(1))
    if one.name in _TWO:
        return Cycles(exactly(2))
    if one.name == "pop" and one.loads_pc:
        return Cycles(None, exactly(_POP_PC + one.listed))
    if one.name in _SEVERAL:
        return Cycles(exactly(1 + one.listed))
    if one.name == "b":
        return Cycles(exactly(1) if one.is_conditional else None, exactly(_BRANCH))
    if one.name in _AWAY:
        return Cycles(None, exactly(_AWAY[one.name]))
    raise unknown(instruction, "a Cortex-M0")
