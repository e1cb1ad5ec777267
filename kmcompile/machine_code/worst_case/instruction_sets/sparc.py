"""SPARC V8: the instruction behind a jump is executed before it is taken, unless annulled."""

from __future__ import annotations

import re
from typing import Final

from kmcompile.machine_code.worst_case.instruction import (
    NEXT,
    Flow,
    Instruction,
    Kind,
    needs_target,
)

_CONDITION: Final = r"(?:ne|e|g|le|ge|l|gu|leu|cc|cs|pos|neg|vc|vs|z|nz|geu|lu)"
_FLOAT: Final = r"fb(?:u|g|ug|l|ul|lg|ne|e|ue|ge|uge|le|ule|o)"
_BRANCH: Final = re.compile(rf"(?:b{_CONDITION}|{_FLOAT})(?P<annul>,a)?(?:,p[tn])?")
_ALWAYS: Final = re.compile(r"(?:ba?|fba)(?P<annul>,a)?(?:,pt)?")

# Of a structure: goes past the word behind the call's delay slot that tells its size.
_RETURN: Final = re.compile(r"%[io]7 \+ (?:8|0xc)")


def flow(instruction: Instruction) -> Flow:
    """Return where an instruction can go."""
    name = instruction.mnemonic
    if found := _ALWAYS.fullmatch(name):
        annulled = "always" if found["annul"] else "never"
        target = needs_target(instruction)
        return Flow(Kind.JUMP, target, delayed=True, annulled=annulled)
    if found := _BRANCH.fullmatch(name):
        annulled = "not taken" if found["annul"] else "never"
        target = needs_target(instruction)
        return Flow(Kind.BRANCH, target, delayed=True, annulled=annulled)
    if name == "call":
        return Flow(Kind.CALL, needs_target(instruction), delayed=True)
    if name in ("ret", "retl"):
        return Flow(Kind.RETURN, delayed=True)
    if name == "jmp" and _RETURN.fullmatch(instruction.operands.strip()):
        return Flow(Kind.RETURN, delayed=True)
    if name in ("jmp", "jmpl"):
        return Flow(Kind.TABLE, delayed=True)
    if name == "ta":
        return Flow(Kind.STOP)
    return NEXT
