"""Patches: what makes one image of another, for the emitted C that applies it.

A patch is a head of 52 bytes and records, all numbers little-endian. A record copies bytes of the
old image and then inserts bytes of its own. The head has the lengths, the CRC-32C and the first 8
bytes of the model's SHA-256 of both images, and the CRC-32C of the patch.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Final

import google_crc32c

from kmcompile.emit.images.content import MAGIC as IMAGE_MAGIC
from kmcompile.emit.images.parts import HEAD_BYTES as IMAGE_HEAD_BYTES
from kmcompile.errors import InputError

MAGIC: Final = b"KMPT"
VERSION: Final = 1
HEAD: Final = struct.Struct("<4sIII II8s II8s I")
"""Magic, version, length, checksum; of the old and of the new image its length, checksum and
model; the number of records."""
RECORD: Final = struct.Struct("<III")
"""Offset and length of what is copied, length of what is inserted behind it."""
_CHECKSUM_AT: Final = 12
_LAYOUT: Final = slice(24, 56)
_MODEL: Final = slice(56, 88)
_UNIT: Final = 4
_LEAST_COPY: Final = 16
"""Bytes of the shortest copy: a record has 12 bytes of its own."""


def check_image(content: bytes, name: str) -> None:
    """Refuse bytes that are no whole image.

    Raises
    ------
    InputError
    """
    reason = ""
    if len(content) < IMAGE_HEAD_BYTES or content[:4] != IMAGE_MAGIC:
        reason = "is no image of a model"
    else:
        order = _order(content)
        length, checksum = struct.unpack(f"{order}II", content[8:16])
        if length != len(content):
            reason = f"has {len(content)} bytes, says it has {length}"
        elif checksum != google_crc32c.value(content[:12] + content[16:]):
            reason = "is damaged: its checksum is another"
    if reason:
        raise InputError(f"{name}: {reason}\nmake it again: kmcompile image MODEL --for DIR")


def check_pair(old: bytes, old_name: str, new: bytes, new_name: str) -> None:
    """Refuse images that are for different code.

    Raises
    ------
    InputError
    """
    if old[_LAYOUT] != new[_LAYOUT] or old[4:8] != new[4:8]:
        raise InputError(
            f"{old_name} and {new_name} are for different code\n"
            "make both with the same folder: kmcompile image MODEL --for DIR"
        )


def model_sha256(image: bytes) -> str:
    """Return the hash of an image's model, hexadecimal."""
    return image[_MODEL].hex()


def make(old: bytes, new: bytes, in_place: bool) -> bytes:
    """Return the patch that makes `new` of `old`.

    Parameters
    ----------
    old, new : bytes
        Images.
    in_place : bool
        Whether bytes are copied only to where they stand already, so that the patch may be applied
        to the old image's own memory.
    """
    found = _same_places(old, new) if in_place else _found(old, new)
    records = []
    position = 0
    for start, at, length in found:
        if start > position:
            records.append((0, 0, new[position:start]))
        records.append((at, length, b""))
        position = start + length
    if position < len(new):
        records.append((0, 0, new[position:]))
    body = b"".join(RECORD.pack(at, length, len(own)) + own for at, length, own in _joined(records))
    n_records_ = len(_joined(records))
    head = HEAD.pack(
        MAGIC, VERSION, HEAD.size + len(body), 0, *_identity(old), *_identity(new), n_records_
    )
    checksum = google_crc32c.value(head[:_CHECKSUM_AT] + head[_CHECKSUM_AT + 4 :] + body)
    return head[:_CHECKSUM_AT] + struct.pack("<I", checksum) + head[_CHECKSUM_AT + 4 :] + body


def apply(old: bytes, content: bytes) -> bytes:
    """Return the image that a patch makes of the old one; the C function does the same."""
    new = bytearray()
    place = HEAD.size
    for _ in range(n_records(content)):
        at, length, own = RECORD.unpack_from(content, place)
        place += RECORD.size
        new += old[at : at + length] + content[place : place + own]
        place += own
    return bytes(new)


def n_records(content: bytes) -> int:
    """Return the number of a patch's records."""
    return int(HEAD.unpack_from(content)[-1])


def _order(content: bytes) -> str:
    return "<" if content[4:8] == b"\x04\x03\x02\x01" else ">"


def _identity(image: bytes) -> tuple[int, int, bytes]:
    return len(image), int(google_crc32c.value(image)), image[_MODEL][:8]


def _joined(records: list[tuple[int, int, bytes]]) -> list[tuple[int, int, bytes]]:
    """Return the records, each copy with the insertion behind it in one."""
    joined: list[tuple[int, int, bytes]] = []
    for at, length, own in records:
        if own and joined and not joined[-1][2]:
            joined[-1] = (*joined[-1][:2], own)
        else:
            joined.append((at, length, own))
    return joined


def _same_places(old: bytes, new: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield (start, offset, length) of the runs that are equal in the same place."""
    start = 0
    end = min(len(old), len(new))
    while start < end:
        length = 0
        while start + length < end and old[start + length] == new[start + length]:
            length += 1
        if length >= _LEAST_COPY:
            yield start, start, length
        start += max(length, 1)


def _found(old: bytes, new: bytes) -> Iterator[tuple[int, int, int]]:
    """Yield (start, offset, length) of the runs of the new image that the old one has anywhere."""
    places: dict[bytes, int] = {}
    for at in range(0, len(old) - _LEAST_COPY + 1, _UNIT):
        places.setdefault(old[at : at + _LEAST_COPY], at)
    start = 0
    while start + _LEAST_COPY <= len(new):
        window = new[start : start + _LEAST_COPY]
        # What stands in the same place needs no search, and is often the longest run.
        at = start if old[start : start + _LEAST_COPY] == window else places.get(window, -1)
        if at < 0:
            start += _UNIT
            continue
        length = _LEAST_COPY
        while (
            start + length < len(new)
            and at + length < len(old)
            and old[at + length] == new[start + length]
        ):
            length += 1
        length -= length % _UNIT
        yield start, at, length
        start += length
