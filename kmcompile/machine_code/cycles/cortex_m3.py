"""Arm Cortex-M3 and Cortex-M4, whose loads, jumps and long products take a range of cycles.

References
----------
Cortex-M3 Technical Reference Manual, DDI 0337I: table 3-1 and the text on load and store timings
behind it. Cortex-M4 Technical Reference Manual, DDI 0439B: table 3-1, the same text in 3.3.3, and
table 7-1 for the floating-point unit. All are for memory without wait states and accesses on their
natural boundaries. A refill takes 1 to 3 cycles.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from kmcompile.machine_code.cycles import fpv4
from kmcompile.machine_code.cycles.cycles import Cycles, Range, exactly, names, unknown
from kmcompile.machine_code.cycles.thumb import Thumb
from kmcompile.machine_code.worst_case.instruction import Instruction

_ONE: Final = names(
    """
    adc add addw adr and asr bfc bfi bic clz cmn cmp cpy eor lsl lsr mov movt movw mul mvn neg orn
    orr rbit rev rev16 revsh ror rrx rsb sbc sbfx ssat sub subw sxtb sxth teq tst ubfx usat uxtb
    uxth
    """
)
_DSP: Final = names(
    """
    pkhbt pkhtb qadd qadd16 qadd8 qasx qdadd qdsub qsax qsub qsub16 qsub8 sadd16 sadd8 sasx sel
    shadd16 shadd8 shasx shsax shsub16 shsub8 smlabb smlabt smlad smladx smlalbb smlalbt smlald
    smlaldx smlaltb smlaltt smlatb smlatt smlawb smlawt smlsd smlsdx smlsld smlsldx smmla smmlar
    smmls smmlsr smmul smmulr smuad smuadx smulbb smulbt smultb smultt smulwb smulwt smusd smusdx
    ssat16 ssax ssub16 ssub8 sxtab sxtab16 sxtah sxtb16 uadd16 uadd8 uasx uhadd16 uhadd8 uhasx uhsax
    uhsub16 uhsub8 umaal uqadd16 uqadd8 uqasx uqsax uqsub16 uqsub8 usad8 usada8 usat16 usax usub16
    usub8 uxtab uxtab16 uxtah uxtb16
    """
)
_LOADS: Final = names("ldr ldrb ldrh ldrsb ldrsh ldrt ldrbt ldrht ldrsbt ldrsht")
_STORES: Final = names("str strb strh strt strbt strht")
_PAIRS: Final = names("ldrd strd")
_SEVERAL: Final = names("ldm ldmia ldmdb stm stmia stmdb push pop")
_JUMPS: Final = names("b bl bx blx cbz cbnz tbb tbh")
_TABLE_JUMP: Final = Range(3, 6)
"""2 + P in the table; two for the load, one for the add and three for the refill in the text."""
_REFILL: Final = Range(1, 3)
_M3_PRODUCTS: Final = {
    **dict.fromkeys(("mla", "mls"), exactly(2)),
    **dict.fromkeys(("smull", "umull"), Range(3, 5)),
    **dict.fromkeys(("smlal", "umlal"), Range(4, 7)),
}
_M4_PRODUCTS: Final = dict.fromkeys(names("mla mls smull umull smlal umlal"), exactly(1))
_DIVISIONS: Final = dict.fromkeys(("sdiv", "udiv"), Range(2, 12))
_COMMON: Final = _ONE | _LOADS | _STORES | _PAIRS | _SEVERAL | _JUMPS | {"nop"} | _DIVISIONS.keys()


@dataclass(frozen=True, slots=True)
class _Core:
    """What one of the two cores has.

    Attributes
    ----------
    fixed : mapping
        Name -> cycles, of what waits for nothing.
    known : frozenset of str
        The names of all its instructions.
    """

    name: str
    fixed: Mapping[str, Range]
    known: frozenset[str]
    has_fpu: bool

    def cycles(self, text: Instruction, before: Thumb | None, after: Thumb | None) -> Cycles:
        one = Thumb(text, self.known)
        found = self._unconditional(one, before, after)
        if one.is_conditional and one.name != "b":  # one cycle where its condition does not hold
            found = Cycles(exactly(1) | found.on if found.on else exactly(1), found.away)
        return found

    def _unconditional(self, one: Thumb, before: Thumb | None, after: Thumb | None) -> Cycles:
        if one.is_it:
            return Cycles(Range(0, 1))  # folded onto the instruction before it, or not
        if jump := _jump(one):
            return jump
        if one.name in self.fixed:
            return Cycles(self.fixed[one.name])
        # A load from the code may wait for the fetch.
        late = Range(0, _waits_for_address(one, before) + int("pc" in one.address))
        if one.name in _LOADS | _STORES:  # two, or one behind another load
            return Cycles(Range(1, 2) + late)
        if one.name in _PAIRS:
            return Cycles(exactly(3) + late)
        if one.name in _SEVERAL:
            return Cycles(exactly(1 + one.listed) + late)
        if self.has_fpu and one.name in fpv4.KNOWN:
            return Cycles(
                fpv4.cycles_of(one, after) + (late if fpv4.has_address(one) else exactly(0))
            )
        raise unknown(one.text, f"a {self.name}")

    def of(
        self, instruction: Instruction, before: Instruction | None, after: Instruction | None
    ) -> Cycles:
        """Return the cycles of an instruction among its neighbours.

        Raises
        ------
        UnknownCyclesError
            If the instruction is not known.
        """
        beside = [None if one is None else Thumb(one, self.known) for one in (before, after)]
        return self.cycles(instruction, beside[0], beside[1])


def _jump(one: Thumb) -> Cycles | None:
    """Return the cycles of what can go elsewhere."""
    match one.name:
        case "cbz" | "cbnz":
            return Cycles(exactly(1), exactly(1) + _REFILL)
        case "b":
            return Cycles(exactly(1) if one.is_conditional else None, exactly(1) + _REFILL)
        case "bl" | "bx" | "blx":
            return Cycles(None, exactly(1) + _REFILL)
        case "tbb" | "tbh":
            return Cycles(None, _TABLE_JUMP)
        case "ldr" if one.loads_pc:  # two cycles for the load, and one more from the code
            return Cycles(None, exactly(2) + _REFILL + Range(0, 2))
        case "add" | "mov" if one.loads_pc:
            return Cycles(None, exactly(1) + _REFILL)
        case "pop" | "ldm" | "ldmia" | "ldmdb" if one.loads_pc:
            return Cycles(None, exactly(1 + one.listed) + _REFILL + Range(0, 1))
    return None


def _waits_for_address(one: Thumb, before: Thumb | None) -> bool:
    """Return whether an address may come out of the instruction right before it."""
    if before is None or before.is_it:
        return True
    is_processing = before.name not in _LOADS | _STORES | _PAIRS | _SEVERAL | _JUMPS
    written = before.operands[: 2 if before.name.endswith(("ull", "lal")) else 1]
    return is_processing and not one.address.isdisjoint(written)


_M3: Final = _Core(
    "Cortex-M3",
    dict.fromkeys((*_ONE, "nop"), exactly(1)) | _M3_PRODUCTS | _DIVISIONS,
    _COMMON | _M3_PRODUCTS.keys(),
    False,
)
_M4: Final = _Core(
    "Cortex-M4",
    dict.fromkeys((*_ONE, *_DSP, "nop"), exactly(1)) | _M4_PRODUCTS | _DIVISIONS,
    _COMMON | _DSP | _M4_PRODUCTS.keys() | fpv4.KNOWN,
    True,
)
cycles_of_m3 = _M3.of
cycles_of_m4 = _M4.of
