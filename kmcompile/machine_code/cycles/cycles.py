"""Ranges of clock cycles, of an instruction that goes on and of one that goes elsewhere."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmcompile.machine_code.worst_case.instruction import Instruction, NotUnderstoodError


class UnknownCyclesError(NotUnderstoodError):
    """The manual of the core does not tell the cycles of an instruction."""


@dataclass(frozen=True, slots=True)
class Range:
    """Fewest and most cycles."""

    low: int
    high: int

    def __or__(self, other: Range) -> Range:
        """Return the smallest range that holds both."""
        return Range(min(self.low, other.low), max(self.high, other.high))

    def __add__(self, other: Range) -> Range:
        """Return the range of one after the other."""
        return Range(self.low + other.low, self.high + other.high)


@dataclass(frozen=True, slots=True)
class Cycles:
    """Cycles of one execution of an instruction.

    Attributes
    ----------
    on : Range or None
        Where the next instruction in memory follows; None if it never does so.
    away : Range or None
        Where another one follows: after a branch that is taken, a jump, a call, a return. None if
        it never does so.
    across : int
        What is to add to `away` where the one that follows lies across two words of memory.
    """

    on: Range | None
    away: Range | None = None
    across: int = 0

    def arriving(self, at: Instruction | None) -> Cycles:
        """Return the cycles where it goes to this instruction; None is one that is not known."""
        if self.away is None or self.across == 0:
            return self
        least = self.across if at is not None and lies_across(at) else 0
        most = self.across if at is None or lies_across(at) else 0
        return Cycles(self.on, self.away + Range(least, most))

    @property
    def going_on(self) -> Range:
        """Return the cycles where the next instruction in memory follows.

        They are those of a jump whose target is this instruction if there are no others.
        """
        found = self.on or self.away
        assert found is not None
        return found

    @property
    def going_away(self) -> Range:
        """Return the cycles where another instruction follows."""
        return self.away or self.going_on


CyclesOf = Callable[[Instruction, Instruction | None, Instruction | None], Cycles]
"""The instruction, the one before it in memory and the one behind it -> its cycles."""


def lies_across(one: Instruction) -> bool:
    """Return whether an instruction of 4 bytes begins in the middle of a word of memory."""
    return one.address % 4 != 0 and one.next_address - one.address > 2


def names(text: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(text.split())


def exactly(cycles: int) -> Range:
    """Return the range of one number."""
    return Range(cycles, cycles)


def unknown(instruction: Instruction, core: str) -> UnknownCyclesError:
    """Return the error that names an instruction."""
    text = f"{instruction.mnemonic} {instruction.operands}".strip()
    return UnknownCyclesError(
        f"how many cycles {text!r} at {instruction.address:#x} takes on {core} is not known"
    )
