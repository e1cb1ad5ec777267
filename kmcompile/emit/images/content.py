"""The bytes of an image: what the code finds in it, in the byte order of the target."""

from __future__ import annotations

import struct
from typing import Final, Literal

import google_crc32c
import numpy as np

from kmcompile.emit.images.parts import HEAD_BYTES, UNIT, VERSION, Parts, image_tables
from kmcompile.program.program import Program

MAGIC: Final = b"KMIM"
CHECKSUM_WORD: Final = 3
"""Which 32-bit word of an image has the checksum of all others."""
_BYTE_ORDER: Final = 0x01020304
_FORMATS: Final = {"u": "I", "f": "f", "d": "d"}


def image_bytes(program: Program, parts: Parts, layout_sha256: str, byte_order: str) -> bytes:
    """Return the image of a program's model.

    Parameters
    ----------
    program : Program
    parts : Parts
        Its counts and numbers with their values; the tables are the program's.
    layout_sha256 : str
        Hash of the code that reads the image, hexadecimal.
    byte_order : str
        "little" or "big".
    """
    order: Literal["<", ">"] = "<" if byte_order == "little" else ">"
    rest = [struct.pack(f"{order}{len(parts.counts)}I", *(one.value for one in parts.counts))]
    for kind, code in _FORMATS.items():
        values = [number.value for number in parts.of_kind(kind)]
        rest.append(struct.pack(f"{order}{len(values)}{code}", *values))
    for table in image_tables(program):
        flat = np.ascontiguousarray(table.values)
        rest.append(flat.astype(flat.dtype.newbyteorder(order)).tobytes())
    body = b"".join(part + bytes(-len(part) % UNIT) for part in rest)
    hashes = bytes.fromhex(layout_sha256) + bytes.fromhex(program.model_sha256)
    before = MAGIC + struct.pack(f"{order}2I", _BYTE_ORDER, HEAD_BYTES + len(body))
    after = struct.pack(f"{order}2I", VERSION, UNIT) + hashes + body
    checksum = int(google_crc32c.value(before + after))
    return before + struct.pack(f"{order}I", checksum) + after
