"""What Thumb instructions are, by the text of the disassembler, for the cycles of Cortex-M."""

from __future__ import annotations

import re
from collections.abc import Container
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from kmcompile.machine_code.cycles.cycles import names
from kmcompile.machine_code.worst_case.instruction import Instruction

_CONDITIONS: Final = names("eq ne cs hs cc lo mi pl vs vc hi ls ge lt gt le")
_IT: Final = re.compile(r"it[te]{0,3}")
_LIST: Final = re.compile(r"\{(.*)\}")
_SPAN: Final = re.compile(r"([rsd])(\d+)-\1?(\d+)")
_ADDRESS: Final = re.compile(r"\[([^\]]*)\]")
_NAMES: Final = re.compile(r"\b(?:r\d+|s\d+|d\d+|sp|lr|pc|ip|fp|sl|sb)\b")
_OTHER_NAMES: Final = {"ip": "r12", "fp": "r11", "sl": "r10", "sb": "r9"}


@dataclass(frozen=True)
class Thumb:
    """A Thumb instruction.

    Parameters
    ----------
    text : Instruction
    known : container of str
        The names of instructions, without condition and without the `s` for flags.
    """

    text: Instruction
    known: Container[str]

    @cached_property
    def _parts(self) -> tuple[str, bool]:
        whole = self.text.mnemonic.removesuffix(".n").removesuffix(".w")
        name = whole.partition(".")[0]
        for stem in (name, name.removesuffix("s")):  # `bls` is no `bl` that sets flags
            if stem in self.known:
                return stem, False
            for base in (stem[:-2], stem[:-2].removesuffix("s")):
                if stem[-2:] in _CONDITIONS and base in self.known:
                    return base, True
        return name, False

    @property
    def name(self) -> str:
        """Return the name without condition and without the `s` for flags."""
        return self._parts[0]

    @property
    def is_conditional(self) -> bool:
        """Return whether it has a condition."""
        return self._parts[1]

    @property
    def is_it(self) -> bool:
        """Return whether it gives the next ones their conditions."""
        return _IT.fullmatch(self.text.mnemonic) is not None

    @property
    def is_double(self) -> bool:
        """Return whether it moves floats of 64 bits."""
        return re.search(r"(^|[{ ])d\d+", self.text.operands) is not None

    @cached_property
    def listed(self) -> int:
        """Return the number of registers in the list of a load or store of several."""
        found = _LIST.search(self.text.operands)
        count = 0
        for name in found[1].split(",") if found else []:
            span = _SPAN.fullmatch(name.strip())
            count += int(span[3]) - int(span[2]) + 1 if span else 1
        return count

    @property
    def loads_pc(self) -> bool:
        """Return whether it loads or moves to the program counter."""
        return re.search(r"^pc\b|\bpc\}", self.text.operands) is not None

    @cached_property
    def operands(self) -> tuple[str, ...]:
        """Return the registers that the operands name, floats as those of 32 bits, in order."""
        found: list[str] = []
        for name in _NAMES.findall(self.text.operands):
            if name[0] == "d":
                number = int(name[1:])
                found += [f"s{2 * number}", f"s{2 * number + 1}"]
            else:
                found.append(_OTHER_NAMES.get(name, name))
        return tuple(found)

    @cached_property
    def address(self) -> frozenset[str]:
        """Return the registers of the address of a load or store."""
        found = _ADDRESS.search(self.text.operands)
        if found is not None:
            return frozenset(_OTHER_NAMES.get(name, name) for name in _NAMES.findall(found[1]))
        if self.name in ("push", "pop", "vpush", "vpop"):
            return frozenset(("sp",))
        return frozenset(self.operands[:1])
