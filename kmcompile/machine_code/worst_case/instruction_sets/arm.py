"""Arm and Thumb, with the low-overhead loops of Armv8.1-M."""

from __future__ import annotations

import re
from typing import Final

from kmcompile.machine_code.worst_case.instruction import (
    NEXT,
    Flow,
    Instruction,
    Kind,
    NotUnderstoodError,
    needs_target,
)

_CONDITION: Final = r"(?P<condition>eq|ne|cs|hs|cc|lo|mi|pl|vs|vc|hi|ls|ge|lt|gt|le)?"
_BRANCH: Final = re.compile(rf"b{_CONDITION}")
_CALL: Final = re.compile(rf"blx?{_CONDITION}")
_EXCHANGE: Final = re.compile(rf"bx{_CONDITION}")
_POP: Final = re.compile(rf"(?:pop|ldm(?:ia|fd|db|ea)?){_CONDITION}")
_LOAD: Final = re.compile(rf"(?:ldr|mov){_CONDITION}")
_LOOP_ENDS: Final = ("le", "letp")
_LOOP_STARTS: Final = ("wls", "wlstp")  # go past the loop if it has no turn
_TRAPS: Final = ("udf", "bkpt")
_TABLES: Final = ("tbb", "tbh")
_TABLE_LOAD: Final = re.compile(rf"ldr{_CONDITION} pc, \[pc, \w+, lsl #2\]")
_CASE: Final = "__gnu_thumb1_case_"  # libgcc's routines for the table behind their call


def flow(instruction: Instruction) -> Flow:
    """Return where an instruction can go; one that a condition skips counts all the same."""
    name = instruction.mnemonic.removesuffix(".n").removesuffix(".w")
    text = instruction.operands
    if name in ("cbz", "cbnz", *_LOOP_STARTS):
        return Flow(Kind.BRANCH, needs_target(instruction))
    if name in _LOOP_ENDS:
        return Flow(Kind.BRANCH, needs_target(instruction), counts_turns=True)
    if name in _TRAPS:
        return Flow(Kind.STOP)
    if name in _TABLES or (_CASE in text and name == "bl"):
        return Flow(Kind.TABLE)
    if found := _BRANCH.fullmatch(name):
        kind = Kind.BRANCH if found["condition"] else Kind.JUMP
        return Flow(kind, needs_target(instruction))
    if found := _CALL.fullmatch(name):
        return Flow(Kind.CALL, needs_target(instruction), conditional=bool(found["condition"]))
    if found := _return(name, text):
        return Flow(Kind.RETURN, conditional=bool(found["condition"]))
    if _TABLE_LOAD.fullmatch(f"{name} {text.strip()}"):
        return Flow(Kind.TABLE, conditional=True)
    if re.fullmatch(r"mov pc, r\d+", f"{name} {text.strip()}"):
        return Flow(Kind.TABLE)
    if re.match(r"\{?pc\b", text) or name.startswith(("bxj", "bx")):
        place = f"{name} {text!r} at {instruction.address:#x}"
        raise NotUnderstoodError(f"{place} goes where a register says")
    return NEXT


def _return(name: str, text: str) -> re.Match[str] | None:
    """Return the match of an instruction that returns."""
    if text.strip() == "lr" and (found := _EXCHANGE.fullmatch(name)):
        return found
    if re.search(r"\bpc\}", text) and (found := _POP.fullmatch(name)):
        return found
    if re.match(r"pc, (lr$|\[sp\], #\d+)", text):
        return _LOAD.fullmatch(name)
    return None
