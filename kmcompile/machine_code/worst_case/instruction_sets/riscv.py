"""RISC-V, as its disassembler names instructions: compressed ones like the others."""

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

_BRANCH: Final = re.compile(r"b(eq|ne|lt|ge|gt|le)(z|u)?")


def flow(instruction: Instruction) -> Flow:
    """Return where an instruction can go."""
    name = instruction.mnemonic.removeprefix("c.")
    if _BRANCH.fullmatch(name):
        return Flow(Kind.BRANCH, needs_target(instruction))
    if name == "j":
        return Flow(Kind.JUMP, needs_target(instruction))
    if name in ("jal", "call"):
        return Flow(Kind.CALL, needs_target(instruction))
    if name == "ret":
        return Flow(Kind.RETURN)
    if name == "jalr":
        return Flow(Kind.CALL, needs_target(instruction))
    if name == "jr":
        return Flow(Kind.TABLE)
    if name in ("unimp", "ebreak", "ecall"):
        return Flow(Kind.STOP)
    return NEXT
