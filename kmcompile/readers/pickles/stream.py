"""The bytes of a pickle: who reads many of them at once pays for what is made of them first."""

from __future__ import annotations

import io

from kmcompile.readers.byte_budget import current_budget

_FREE_BYTES = 1000
"""Less than this is paid for with its opcode."""

_TEXT_COPIES = 6
"""The bytes of a text, and up to 4 for each character while it is decoded, and then once more."""

_COPIES = {b"X": _TEXT_COPIES, b"\x8d": _TEXT_COPIES, b"\x96": 2}
"""What BINUNICODE, BINUNICODE8 and BYTEARRAY8 make of their bytes; others make one copy."""


class PickleStream(io.BytesIO):
    """What `pickletools.genops` reads from: it makes texts and bytes before it shows them.

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
        """Return `size` bytes or what there is; a single one is taken for an opcode."""
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
        """Return what there is up to a line break; protocol 0 has texts of one line."""
        start = self.tell()
        wanted = (self._content.find(b"\n", start) + 1 or len(self._content)) - start
        if wanted > _FREE_BYTES:
            self._budget.spend(wanted * _TEXT_COPIES, f"a text of {wanted} bytes")
        return super().readline(size)
