"""The floating-point unit of the Cortex-M4, for floats of 32 bits.

References
----------
Cortex-M4 Technical Reference Manual, DDI 0439B, table 7-1 and the text behind it: arithmetic takes
one cycle more where the next instruction takes its result; integer instructions go on beside a
division or a square root, which then takes one cycle.
"""

from __future__ import annotations

from typing import Final

from kmcompile.machine_code.cycles.cycles import Range, exactly, names
from kmcompile.machine_code.cycles.thumb import Thumb

_ARITHMETIC: Final = {
    **dict.fromkeys(names("vadd vcmp vcmpe vcvt vcvtb vcvtr vcvtt vmul vnmul vsub"), exactly(1)),
    **dict.fromkeys(names("vmla vmls vnmla vnmls vfma vfms vfnma vfnms"), exactly(3)),
    **dict.fromkeys(("vdiv", "vsqrt"), Range(1, 14)),
}
_ONE: Final = names("vabs vneg vmrs vmsr")
_SINGLES: Final = frozenset(("vldr", "vstr"))
_SEVERAL: Final = names("vldm vldmia vldmdb vstm vstmia vstmdb vpush vpop")

KNOWN: Final = _ARITHMETIC.keys() | _ONE | _SINGLES | _SEVERAL | {"vmov"}
"""The names of its instructions."""


def has_address(one: Thumb) -> bool:
    """Return whether an instruction of the unit loads or stores."""
    return one.name in _SINGLES | _SEVERAL


def cycles_of(one: Thumb, after: Thumb | None) -> Range:
    """Return the cycles of one of the unit's instructions, which never goes elsewhere."""
    words = 2 if one.is_double else 1
    if one.name in _ARITHMETIC:
        return _ARITHMETIC[one.name] + Range(0, _is_taken(one, after))
    if one.name in _ONE:
        return exactly(1)
    if one.name in _SINGLES:  # as other loads: one cycle less behind another one
        return exactly(3) if words == 2 else Range(1, 2)
    if one.name in _SEVERAL:
        return exactly(1 + words * one.listed)
    # A move: between registers of one kind, or to and from core registers, in two.
    core = sum(name[0] != "s" or name == "sp" for name in one.operands)
    return exactly(1) if core == 0 else Range(1, 2)


def _is_taken(one: Thumb, after: Thumb | None) -> bool:
    """Return whether the next instruction may take the result."""
    if after is None or one.name in ("vcmp", "vcmpe"):
        return True
    return not set(one.operands[: 2 if one.is_double else 1]).isdisjoint(after.operands)
