"""The bytes of a model file, decompressed; the compression is recognised by the content."""

from __future__ import annotations

import bz2
import io
import lzma
import stat
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from kmcompile.errors import InputError, UsageError
from kmcompile.readers.byte_budget import current_budget

MAX_MODEL_BYTES = 500_000_000
"""Largest file, compressed and decompressed; no model for a microcontroller needs more."""

_LZMA_MEMORY_BYTES = 80_000_000
"""Largest memory of the decompressor: xz -9 needs 65 MB, a header may ask for 4 GB."""

_STEP_BYTES = 4_000_000
"""Bytes that are decompressed at a time, so that at most these exceed the budget."""


def _zlib_decompressor() -> Any:
    return zlib.decompressobj()


def _gzip_decompressor() -> Any:
    return zlib.decompressobj(wbits=31)


def _lzma_decompressor() -> Any:
    return lzma.LZMADecompressor(memlimit=_LZMA_MEMORY_BYTES)


_COMPRESSIONS: tuple[tuple[bytes, str, Callable[[], Any]], ...] = (
    (b"\x1f\x8b", "gzip", _gzip_decompressor),
    (b"BZh", "bz2", bz2.BZ2Decompressor),
    (b"\xfd7zXZ\x00", "xz", _lzma_decompressor),
    (b"]\x00", "lzma", _lzma_decompressor),
    *((start, "zlib", _zlib_decompressor) for start in (b"x\x01", b"x^", b"x\x9c", b"x\xda")),
)
"""The first bytes of joblib's compressions; no uncompressed model starts with them."""


def read_model_file(path: Path) -> bytes:
    """Return the file's content, decompressed where joblib compressed it.

    Raises
    ------
    UsageError
        The path leads to no readable file.
    InputError
        The file is empty or too large, or its compression is damaged.
    """
    size_bytes = require_regular_file(path)
    if size_bytes > MAX_MODEL_BYTES:
        raise InputError(
            f"{path.name}: {size_bytes} bytes, must be at most {MAX_MODEL_BYTES}; "
            "train on fewer samples"
        )
    try:
        with path.open("rb") as file:
            content = file.read(MAX_MODEL_BYTES + 1)
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror}; check the path") from None
    try:
        return decompress(content)
    except InputError as error:
        raise InputError(f"{path.name}: {error}") from None


def require_regular_file(path: Path) -> int:
    """Return the size of the file in bytes; refuse a device or a pipe, which may never end."""
    try:
        status = path.stat()
    except (OSError, ValueError) as error:  # ValueError: a zero byte in the path
        reason = getattr(error, "strerror", None) or "not a valid path"
        raise UsageError(f"{path}: cannot be read: {reason}; check the path") from None
    if not stat.S_ISREG(status.st_mode):
        kind = "a folder" if stat.S_ISDIR(status.st_mode) else "not a regular file"
        raise UsageError(f"{path}: is {kind}, must be a model file; check the path")
    return status.st_size


def decompress(content: bytes) -> bytes:
    """Return `content`, decompressed once if it starts as joblib's compressions do.

    The result has at most `MAX_MODEL_BYTES` bytes and at most the bytes left in the file's budget,
    whatever size the file claims.
    """
    if not content:
        raise InputError("the file is empty; save the model again")
    for magic, name, make in _COMPRESSIONS:
        if content.startswith(magic):
            return _decompress(content, name, make())
    return content


def _decompress(content: bytes, name: str, decompressor: Any) -> bytes:
    result = io.BytesIO()  # grows in place, while joining pieces would hold all bytes twice
    try:
        for piece in _pieces(content, decompressor):
            current_budget().spend(len(piece), "what its compression holds")
            if result.write(piece) and result.tell() > MAX_MODEL_BYTES:
                break
    except (zlib.error, OSError, EOFError, ValueError, lzma.LZMAError) as error:
        reason = ascii(str(error))[1:-1][:100]
        raise InputError(
            f"its {name} compression is damaged ({reason}); save the model again"
        ) from None
    if result.tell() > MAX_MODEL_BYTES:
        raise InputError(
            f"it decompresses to more than {MAX_MODEL_BYTES} bytes; "
            "a model for a microcontroller needs less"
        )
    if not decompressor.eof:
        raise InputError(f"its {name} compression ends early; save the model again")
    if decompressor.unused_data:
        raise InputError(
            f"{len(decompressor.unused_data)} bytes follow its {name} compression; "
            "save one model a file"
        )
    return result.getvalue()


def _pieces(content: bytes, decompressor: Any) -> Iterator[bytes]:
    """Yield the decompressed pieces, to the end of the data or of the content."""
    waiting = content
    while not decompressor.eof:
        piece = decompressor.decompress(waiting, _STEP_BYTES)
        # zlib gives back what it has not looked at, the others keep it.
        waiting = getattr(decompressor, "unconsumed_tail", b"")
        if not piece and not waiting:
            break
        yield piece
