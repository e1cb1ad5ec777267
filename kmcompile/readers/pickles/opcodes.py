"""The opcodes of a pickle, as `pickletools.genops` yields them, with the texts of Python 2."""

from __future__ import annotations

import codecs
import pickletools
from collections.abc import Iterator
from typing import Any

from kmcompile.readers.pickles.stream import PickleStream

_BY_CODE = {one.code: one for one in pickletools.opcodes}


def opcodes(stream: PickleStream) -> Iterator[tuple[pickletools.OpcodeInfo, Any, int]]:
    """Yield opcode, argument and position up to and with STOP.

    Texts of Python 2 may be bytes: they are decoded as latin-1, which keeps each byte. genops
    itself refuses those of protocol 0 beyond ASCII.

    Raises
    ------
    ValueError
        The bytes are no pickle, or it ends early.
    """
    while True:
        position = stream.tell()
        code = stream.read(1)
        opcode = _BY_CODE.get(code.decode("latin-1"))
        if opcode is None:
            raise ValueError("no opcode, or the end of the file")
        argument = None
        if opcode.name == "STRING":
            argument = _quoted(stream.readline())
        elif opcode.arg is not None:
            argument = opcode.arg.reader(stream)
        yield opcode, argument, position
        if opcode.name == "STOP":
            return


def _quoted(line: bytes) -> str:
    """Return the text of a line with quotes, in which bytes may be escaped."""
    text = line.strip()
    if not line.endswith(b"\n") or len(text) < 2 or text[:1] not in b"'\"" or text[-1:] != text[:1]:
        raise ValueError("a text of Python 2 is malformed")
    decoded = codecs.escape_decode(text[1:-1])[0]
    return decoded.decode("latin-1")
