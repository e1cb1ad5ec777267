"""PowerPC, with the simplified names of its branches."""

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

_CONDITION: Final = r"(?:lt|le|eq|ge|gt|nl|ne|ng|so|ns|un|nu)"
_BRANCH: Final = re.compile(rf"b{_CONDITION}[+-]?|bc[+-]?")
_COUNTED: Final = re.compile(r"bdn?z[+-]?")
_RETURN: Final = re.compile(rf"b(?P<condition>{_CONDITION}|dn?z)?lr[+-]?")


def flow(instruction: Instruction) -> Flow:
    """Return where an instruction can go."""
    name = instruction.mnemonic
    if _COUNTED.fullmatch(name):
        return Flow(Kind.BRANCH, needs_target(instruction), counts_turns=True)
    if _BRANCH.fullmatch(name) or re.match(r"bdn?z[tf]", name):
        return Flow(Kind.BRANCH, needs_target(instruction))
    if name == "b":
        return Flow(Kind.JUMP, needs_target(instruction))
    if name in ("bl", "bctrl", "blrl"):
        return Flow(Kind.CALL, needs_target(instruction))
    if found := _RETURN.fullmatch(name):
        return Flow(Kind.RETURN, conditional=bool(found["condition"]))
    if name == "bctr":
        return Flow(Kind.TABLE)
    if name in ("trap", "sc"):
        return Flow(Kind.STOP)
    return NEXT
