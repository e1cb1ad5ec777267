"""Reading of all members of a zip archive, within limits on their number and sizes."""

from __future__ import annotations

import io
import re
import shutil
import struct
import zipfile
import zlib

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import current_budget
from kmcompile.readers.model_file import MAX_MODEL_BYTES
from kmcompile.readers.record import short_ascii

MAX_MEMBERS = 10_000
"""Largest number of members; a pipeline has some dozens, one for each array."""

_DIRECTORY_ENTRY = b"PK\x01\x02"
"""First bytes of an entry of the directory: APPNOTE.TXT 6.3.10, 4.3.12."""

_ENCRYPTED = 0x1
"""Bit 0 of a member's flags: APPNOTE.TXT 6.3.10, 4.4.4."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Only these decompress in steps of bounded size."""

_STEP_BYTES = 1_000_000
"""Bytes that are decompressed at a time."""

_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
"""Errors of zipfile on damaged bytes."""


def member_names(content: bytes) -> frozenset[str]:
    """Return the names of an archive's members; empty if it is damaged."""
    try:
        with _archive(content) as archive:
            return frozenset(archive.namelist())
    except (InputError, *_DAMAGE):
        return frozenset()


def read_members(content: bytes, allowed: re.Pattern[str]) -> dict[str, bytes]:
    """Return every member by its name; the names must match `allowed`.

    Number and sizes are checked by the archive's directory before anything is decompressed,
    and no member gives more bytes than its directory entry says. CRC-32 is checked.

    Raises
    ------
    InputError
        The archive is damaged, too large, encrypted, or has a member with a name not allowed.
    """
    try:
        with _archive(content) as archive:
            members = archive.infolist()
            _check_directory(members, allowed)
            return {member.filename: _content(archive, member) for member in members}
    except _DAMAGE as error:
        raise InputError(
            f"the zip archive is damaged ({short_ascii(str(error))}); save the model again"
        ) from None


def _archive(content: bytes) -> zipfile.ZipFile:
    """Open an archive, after a check that its directory fits the memory."""
    current_budget().spend(len(content), "a zip archive")
    n_entries = content.count(_DIRECTORY_ENTRY)
    if n_entries > MAX_MEMBERS:
        raise InputError(f"the zip archive has {n_entries} files, must be at most {MAX_MEMBERS}")
    return zipfile.ZipFile(io.BytesIO(content))


def _check_directory(members: list[zipfile.ZipInfo], allowed: re.Pattern[str]) -> None:
    names = set()
    for member in members:
        shown = short_ascii(member.filename)
        if not allowed.fullmatch(member.filename) or member.filename in names:
            raise InputError(
                f"the zip archive has the file {shown} that a model has not, or has it twice; "
                "save the model again"
            )
        if member.flag_bits & _ENCRYPTED or member.compress_type not in _METHODS:
            raise InputError(
                f"{shown} of the zip archive is encrypted or compressed with another method than "
                "deflate; save the model again without"
            )
        names.add(member.filename)
    size_bytes = sum(member.file_size for member in members)
    if size_bytes > MAX_MODEL_BYTES:
        raise InputError(
            f"the zip archive holds {size_bytes} bytes, must be at most {MAX_MODEL_BYTES}; "
            "a model for a microcontroller needs less"
        )
    current_budget().spend(size_bytes, f"the {size_bytes} bytes that the zip archive holds")


def _content(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """Return a member's bytes in one buffer; `ZipFile.read` would hold them twice."""
    content = io.BytesIO()
    with archive.open(member) as stream:
        shutil.copyfileobj(stream, content, _STEP_BYTES)
    return content.getvalue()
