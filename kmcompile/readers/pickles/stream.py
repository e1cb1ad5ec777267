"""The bytes of a pickle: a read of many bytes spends the cost of its result first."""

from __future__ import annotations

import io

from kmcompile.readers.byte_budget import current_budget

_FREE_BYTES = 1000
"""A read of fewer bytes is covered by the cost of its opcode."""

_TEXT_COPIES = 6
"""Copies of a text: its bytes, and twice up to 4 bytes for each character while it is decoded."""

_COPIES = {b"X": _TEXT_COPIES, b"\x8d": _TEXT_COPIES, b"\x96": 2}
"""Number of copies that an opcode makes of its bytes; other opcodes make one."""


class PickleStream(io.BytesIO):
    """The stream for `pickletools.genops`, which makes texts and bytes before it yields them.

    Parameters
    ----------
    content : bytes
    """

    def __init__(self, content: bytes) -> None:
        super().__init__(content)
        self._content = content
        self._budget = current_budget()
        self._opcode = b""

    @property
    def left_bytes(self) -> int:
        """How many bytes follow; `getbuffer` would copy all of them."""
        return len(self._content) - self.tell()

    def read(self, size: int | None = -1, /) -> bytes:
        """Return `size` bytes, or fewer at the end; a single byte counts as an opcode."""
        if size == 1:
            self._opcode = super().read(1)
            return self._opcode
        if size is None or not 0 <= size <= _FREE_BYTES:
            wanted = self.left_bytes
            if size is not None and size >= 0:
                wanted = min(size, wanted)
            copies = _COPIES.get(self._opcode, 1)
            self._budget.spend(wanted * copies, f"{wanted} bytes of text or numbers")
        return super().read(size)

    def readline(self, size: int | None = -1, /) -> bytes:
        """Return the bytes up to a line break; texts of protocol 0 are lines."""
        start = self.tell()
        wanted = (self._content.find(b"\n", start) + 1 or len(self._content)) - start
        if wanted > _FREE_BYTES:
            self._budget.spend(wanted * _TEXT_COPIES, f"a text of {wanted} bytes")
        return super().readline(size)
