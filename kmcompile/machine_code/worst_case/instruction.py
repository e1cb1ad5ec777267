"""One instruction as the disassembler prints it, and where it can go next."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum, auto
from typing import Final

_TARGET: Final = re.compile(r"(?:0x)?([0-9a-f]+) <[^>]*>\s*$")


class NotUnderstoodError(Exception):
    """A part of the machine code has no known bound; the text names the part and its place."""


class Kind(Enum):
    """The kinds of instructions by their next instruction."""

    NEXT = auto()
    BRANCH = auto()  # to its target or on
    SKIP = auto()  # on, or past the next one
    JUMP = auto()
    CALL = auto()
    RETURN = auto()
    TABLE = auto()  # to one of several, by a table
    STOP = auto()  # a trap


@dataclass(frozen=True, slots=True)
class Instruction:
    """An instruction of a disassembly.

    Attributes
    ----------
    address, next_address : int
        Address of this instruction and of the next one.
    mnemonic, operands, comment : str
        The texts that the disassembler prints.
    target : int or None
        The address that its operands name with a symbol, such as that of a branch.
    """

    address: int
    next_address: int
    mnemonic: str
    operands: str
    comment: str
    target: int | None


@dataclass(frozen=True, slots=True)
class Flow:
    """The instructions that can follow an instruction.

    Attributes
    ----------
    conditional : bool
        Whether a call or return has a condition and may go on to the next instruction instead.
    delayed : bool
        Whether the next instruction, in the delay slot, is executed before the jump.
    annulled : str
        When the instruction in the delay slot is not executed: "never", "not taken" or "always".
    counts_turns : bool
        Whether the instruction counts the iterations of a loop. Then its line in the source is not
        the line of the loop.
    """

    kind: Kind
    target: int | None = None
    conditional: bool = False
    delayed: bool = False
    annulled: str = "never"
    counts_turns: bool = False


NEXT: Final = Flow(Kind.NEXT)


def target_of(operands: str) -> int | None:
    """Return the address that operands end with.

    Examples
    --------
    >>> target_of("r3, 48 <iris_sum+0x20>")
    72
    """
    found = _TARGET.search(operands)
    return int(found[1], 16) if found else None


def needs_target(instruction: Instruction) -> int:
    """Return the target of a branch or call that must have one.

    Raises
    ------
    NotUnderstoodError
        If the instruction goes to an address in a register.
    """
    if instruction.target is None:
        text = f"{instruction.mnemonic} {instruction.operands}"
        raise NotUnderstoodError(f"{text!r} at {instruction.address:#x} goes to an unknown place")
    return instruction.target
