"""AVR: some instructions skip the next one, which the emulator counts all the same."""

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

_BRANCH: Final = re.compile(r"br(eq|ne|cs|cc|sh|lo|mi|pl|ge|lt|hs|hc|ts|tc|vs|vc|ie|id|bs|bc)")
_SKIPS: Final = ("sbrc", "sbrs", "sbic", "sbis", "cpse")


def flow(instruction: Instruction) -> Flow:
    """Return where an instruction can go."""
    name = instruction.mnemonic
    if _BRANCH.fullmatch(name):
        return Flow(Kind.BRANCH, needs_target(instruction))
    if name in _SKIPS:
        return Flow(Kind.SKIP)
    if name in ("rjmp", "jmp"):
        return Flow(Kind.JUMP, needs_target(instruction))
    if name == "rcall" and instruction.target == instruction.next_address:
        return NEXT  # its return address makes room on the stack, as `call_graph` has checked
    if name in ("rcall", "call", "icall", "eicall"):
        return Flow(Kind.CALL, needs_target(instruction))
    if name in ("ret", "reti"):
        return Flow(Kind.RETURN)
    if name in ("ijmp", "eijmp"):
        return Flow(Kind.TABLE)
    if name == "break":
        return Flow(Kind.STOP)
    return NEXT
