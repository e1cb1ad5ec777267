"""Arm Cortex-M0 and Cortex-M0+: every instruction takes a fixed number of cycles.

References
----------
Cortex-M0 Technical Reference Manual, DDI 0432C, table 3-1, and Cortex-M0+ Technical Reference
Manual, DDI 0484C, table 3-1: cycles without wait states. A product takes one cycle with the fast
multiplier, which is meant here, and 32 with the small one. Loads and stores of a Cortex-M0+ take
one cycle less on its port for peripherals, which is not meant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
_JUMPS: Final = names("b bl bx blx")
_KNOWN: Final = _ONE | _TWO | _SEVERAL | _JUMPS


@dataclass(frozen=True, slots=True)
class _Core:
    """What the two cores do not share.

    Attributes
    ----------
    name : str
    jumps : mapping
        Name of a jump -> cycles where it is taken; "" is a move to the program counter.
    pop_pc : int
        Cycles of a load of the program counter from the stack, beside one for each register.
    """

    name: str
    jumps: Mapping[str, int]
    pop_pc: int

    def of(
        self, instruction: Instruction, before: Instruction | None, after: Instruction | None
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
            return Cycles(None, exactly(self.jumps[""]))
        if one.name in _ONE:
            return Cycles(exactly(1))
        if one.name in _TWO:
            return Cycles(exactly(2))
        if one.name == "pop" and one.loads_pc:
            return Cycles(None, exactly(self.pop_pc + one.listed))
        if one.name in _SEVERAL:
            return Cycles(exactly(1 + one.listed))
        if one.name in _JUMPS:
            taken = exactly(self.jumps[one.name])
            return Cycles(exactly(1) if one.is_conditional else None, taken)
        raise unknown(instruction, f"a {self.name}")


cycles_of_m0 = _Core("Cortex-M0", {"": 3, "b": 3, "bl": 4, "bx": 3, "blx": 3}, 4).of
cycles_of_m0plus = _Core("Cortex-M0+", {"": 2, "b": 2, "bl": 3, "bx": 2, "blx": 2}, 3).of
