"""Decoding of the AVR instructions that change the stack pointer or the flow of control.

References
----------
AVR Instruction Set Manual, DS40002198: the codes of each instruction.
"""

from __future__ import annotations

from dataclasses import dataclass

STACK_LOW, STACK_HIGH = 0x3D, 0x3E
"""The stack pointer's addresses for IN and OUT."""

_TWO_WORDS = ((0xFE0E, 0x940C), (0xFE0E, 0x940E), (0xFE0F, 0x9000), (0xFE0F, 0x9200))
"""JMP, CALL, LDS, STS as (mask, code)."""
_SKIPS = ((0xFC00, 0x1000), (0xFD00, 0x9900), (0xFC08, 0xFC00))
"""CPSE; SBIC and SBIS; SBRC and SBRS."""
_WRITE_UPPER = (0x4, 0x5, 0x6, 0x7, 0xE)
"""The first hexadecimal digit of SBCI, SUBI, ORI, ANDI and LDI, of the registers from 16."""
_WRITE_ONE = (
    *((0xFC00, code) for code in (0x0800, 0x0C00, 0x1800, 0x1C00)),  # SBC, ADD, SUB, ADC
    *((0xFC00, code) for code in (0x2000, 0x2400, 0x2800, 0x2C00)),  # AND, EOR, OR, MOV
    *((0xD200, 0x8000), (0xF800, 0xB000), (0xFE08, 0xF800)),  # LDD, IN, BLD
)
_WRITING_FORMS = (0x0, 0x1, 0x2, 0x3, 0x5, 0x6, 0x7, 0xA)
"""The last digit of COM, NEG, SWAP, INC, ASR, LSR, ROR and DEC."""
_MOVED_POINTER = {
    **dict.fromkeys((0x1, 0x2, 0x5, 0x7), (30, 31)),
    **dict.fromkeys((0x9, 0xA), (28, 29)),
    **dict.fromkeys((0xD, 0xE), (26, 27)),
}
"""The last digit of loads and stores that move Z, Y or X."""
_INDIRECT = {0x9409: "ijmp", 0x9419: "eijmp", 0x9509: "icall", 0x9519: "eicall"}


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction at a byte address.

    Attributes
    ----------
    word, next_word : int
        The instruction's code, and the next word, which may be its second half.
    """

    address: int
    word: int
    next_word: int

    def _is(self, mask: int, code: int) -> bool:
        return self.word & mask == code

    @property
    def end(self) -> int:
        """Return the address behind the instruction."""
        two = any(self._is(mask, code) for mask, code in _TWO_WORDS)
        return self.address + (4 if two else 2)

    @property
    def skips(self) -> bool:
        """Return whether the instruction may skip the next one."""
        return any(self._is(mask, code) for mask, code in _SKIPS)

    @property
    def is_branch(self) -> bool:
        """Return whether it is BRBS or BRBC."""
        return self._is(0xF800, 0xF000)

    @property
    def is_jump(self) -> bool:
        """Return whether it is JMP or RJMP."""
        return self._is(0xFE0E, 0x940C) or self._is(0xF000, 0xC000)

    @property
    def is_call(self) -> bool:
        """Return whether it is CALL or RCALL."""
        return self._is(0xFE0E, 0x940E) or self._is(0xF000, 0xD000)

    @property
    def is_return(self) -> bool:
        """Return whether it is RET."""
        return self.word == 0x9508

    @property
    def indirect(self) -> str | None:
        """Return the name of a call or jump to a computed address, or of RETI."""
        return "reti" if self.word == 0x9518 else _INDIRECT.get(self.word)

    @property
    def destination(self) -> int:
        """Return the byte address that a branch, jump or call goes to."""
        if self.is_branch:
            return self.address + 2 + 2 * _signed(self.word >> 3, 7)
        if self._is(0xFE0C, 0x940C):
            return 2 * ((self.word >> 3 & 0x3E | self.word & 1) << 16 | self.next_word)
        return self.address + 2 + 2 * _signed(self.word, 12)

    @property
    def pushed(self) -> int:
        """Return the bytes that PUSH adds to the stack and POP takes off."""
        return self._is(0xFE0F, 0x920F) - self._is(0xFE0F, 0x900F)

    @property
    def stack_input(self) -> tuple[int, int] | None:
        """Return (register, address) of an IN from the stack pointer."""
        return self._port(0xB000)

    @property
    def stack_output(self) -> tuple[int, int] | None:
        """Return (register, address) of an OUT to the stack pointer."""
        return self._port(0xB800)

    def _port(self, code: int) -> tuple[int, int] | None:
        address = self.word >> 5 & 0x30 | self.word & 0xF
        if not self._is(0xF800, code) or address not in (STACK_LOW, STACK_HIGH):
            return None
        return self.word >> 4 & 0x1F, address

    @property
    def word_added(self) -> tuple[int, int] | None:
        """Return (low register of a pair, added number) of ADIW or SBIW."""
        if not self._is(0xFE00, 0x9600):
            return None
        value = self.word >> 2 & 0x30 | self.word & 0xF
        return 24 + (self.word >> 3 & 6), -value if self.word & 0x100 else value

    @property
    def subtracted(self) -> tuple[int, int, bool] | None:
        """Return (register, constant, whether with carry) of SUBI and SBCI.

        SBC with r1 also subtracts a constant: r1 is 0 (avr-gcc's ABI) except in a multiplication.
        """
        if self._is(0xFE0F, 0x0801):
            return self.word >> 4 & 0x1F, 0, True
        if not self._is(0xE000, 0x4000):
            return None
        constant = self.word >> 4 & 0xF0 | self.word & 0xF
        return 16 + (self.word >> 4 & 0xF), constant, not self.word & 0x1000

    @property
    def stepped(self) -> tuple[int, int] | None:
        """Return (register, added number) of INC or DEC."""
        if not self._is(0xFE0F, 0x9403) and not self._is(0xFE0F, 0x940A):
            return None
        return self.word >> 4 & 0x1F, -1 if self.word & 0x8 else 1

    @property
    def pair_moved(self) -> tuple[int, int] | None:
        """Return the low registers (to, from) of MOVW."""
        if not self._is(0xFF00, 0x0100):
            return None
        return self.word >> 3 & 0x1E, self.word << 1 & 0x1E

    @property
    def written(self) -> tuple[int, ...]:
        """Return the registers that the instruction changes, but for calls and products."""
        register, form = self.word >> 4 & 0x1F, self.word & 0xF
        upper = 16 + (register & 0xF)
        if self.word_added is not None or self.pair_moved is not None:
            low = (self.word_added or self.pair_moved or (0, 0))[0]
            return low, low + 1
        if self.word >> 12 in _WRITE_UPPER:
            return (upper,)
        if self._is(0xFC00, 0x9000):
            pointer = _MOVED_POINTER.get(form, ())
            return pointer if self.word & 0x0200 else (register, *pointer)
        if self._is(0xFE00, 0x9400):
            return (register,) if form in _WRITING_FORMS else ()
        return (register,) if any(self._is(*one) for one in _WRITE_ONE) else ()


def _signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value
