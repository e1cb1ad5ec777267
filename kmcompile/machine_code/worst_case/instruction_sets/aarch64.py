"""AArch64."""

from __future__ import annotations

from kmcompile.machine_code.worst_case.instruction import (
    NEXT,
    Flow,
    Instruction,
    Kind,
    needs_target,
)

_COMPARES = ("cbz", "cbnz", "tbz", "tbnz")


def flow(instruction: Instruction) -> Flow:
    """Return where an instruction can go."""
    name = instruction.mnemonic
    if name.startswith("b.") or name in _COMPARES:
        return Flow(Kind.BRANCH, needs_target(instruction))
    if name == "b":
        return Flow(Kind.JUMP, needs_target(instruction))
    if name in ("bl", "blr"):
        return Flow(Kind.CALL, needs_target(instruction))
    if name == "ret":
        return Flow(Kind.RETURN)
    if name == "br":
        return Flow(Kind.TABLE)
    if name in ("brk", "udf", "hlt"):
        return Flow(Kind.STOP)
    return NEXT
