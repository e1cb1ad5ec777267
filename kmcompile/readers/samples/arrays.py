"""Arrays in `.npy` and `.npz`, without pickles, sizes checked before anything is decompressed."""

from __future__ import annotations

import io
import warnings
import zipfile
import zlib
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import current_budget
from kmcompile.readers.samples.shapes import bytes_of_shape, is_text

MAX_ARRAY_BYTES = 4_000_000_000
_HEADERS = {
    (1, 0): (npy_format.read_array_header_1_0, 2),
    (2, 0): (npy_format.read_array_header_2_0, 4),
}
"""Version -> the function that reads its header, and the number of bytes of its length."""

_MOST_HEADER_BYTES = 10_000
"""numpy's own limit."""
_BYTES_PER_HEADER_BYTE = 150
"""Cost of a byte of the header, which Python parses; headers of Python 2 are split into words."""

_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""Only these decompress in steps of bounded size, and numpy writes no others."""

_STEP_BYTES = 1_000_000
"""Bytes that are decompressed at a time."""
# Errors of zipfile and its decompressors on damaged bytes.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    KeyError,
    NotImplementedError,
    OverflowError,
    RuntimeError,
    ValueError,
)


def read_npz(
    file: BinaryIO, name: str, names: tuple[str, ...]
) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return the first array of `names` and its labels (the same name with y), or None.

    Raises
    ------
    InputError
        If the archive is damaged, has none of the arrays, or one is too large or of objects.
    """
    try:
        with zipfile.ZipFile(file) as archive:
            members = set(archive.namelist())
            chosen = next((n for n in names if f"{n}.npy" in members), None)
            if chosen is None:
                found = ", ".join(sorted(m.removesuffix(".npy") for m in members)[:8]) or "nothing"
                raise InputError(f"{name} holds {found}; must hold {' or '.join(names)}")
            labels = "y" + chosen[1:]
            X = _read_member(archive, chosen, name)
            y = _read_member(archive, labels, name) if f"{labels}.npy" in members else None
            return X, y
    except InputError:
        raise
    except _DAMAGE as error:
        raise InputError(f"{name} is a damaged .npz ({error}); save it again") from error


def _read_member(archive: zipfile.ZipFile, array: str, name: str) -> NDArray[Any]:
    member = archive.getinfo(f"{array}.npy")
    if member.compress_type not in _METHODS:
        raise InputError(
            f"{name}: {array} is compressed with another method than deflate; "
            "save it with numpy.savez_compressed"
        )
    _require_size(member.file_size, f"{name}: {array}")
    with archive.open(member) as stream:
        return read_npy(stream, f"{name}: {array}")


def read_npy(file: Any, field: str) -> NDArray[Any]:
    """Return the array of an `.npy` stream.

    The array is refused if the file has fewer bytes than the header claims.

    Raises
    ------
    InputError
        If it is damaged, too large, or an array of objects (a pickle).
    """
    try:
        version = npy_format.read_magic(file)
        if version not in _HEADERS:
            raise InputError(f"{field} has .npy version {version}, must be 1.0 or 2.0")
        shape, fortran_order, dtype = _read_header(file, version)
    except InputError:
        raise
    except Exception as error:
        # numpy reads the header as Python text, and damage makes its tokenizer and its parser
        # raise whatever they like: TokenError, SyntaxError, MemoryError, ...
        raise InputError(f"{field} has a damaged .npy header; save it again") from error
    if dtype.hasobject:
        raise InputError(
            f"{field} holds Python objects, which are not unpickled; "
            "save numbers or text: y.astype(str)"
        )
    if dtype.kind not in "biufU" or dtype.itemsize == 0:
        raise InputError(f"{field} has type {dtype}, must be numbers, or text for labels")
    shown = str(shape)[:100]
    if min(shape, default=0) < 0:
        raise InputError(f"{field} has shape {shown}, must not be negative")
    try:
        size = bytes_of_shape(shape, dtype.itemsize)
    except ValueError as error:
        raise InputError(f"{field} has shape {shown}, {error}; save it again") from None
    _require_size(size, field)
    current_budget().spend(size, f"{field} of {size} bytes")
    content = _read_content(file, size, field)
    if not size:
        return np.empty(shape, dtype=dtype)
    if dtype.kind == "U" and not is_text(content, dtype):
        raise InputError(f"{field} holds text that is none; save it again")
    array: NDArray[Any] = content.view(dtype)
    return array.reshape(shape, order="F" if fortran_order else "C")


def _read_header(file: Any, version: tuple[int, int]) -> tuple[Any, bool, np.dtype[Any]]:
    """Return shape, order and dtype of the header that follows."""
    read, n_bytes = _HEADERS[version]
    length = file.read(n_bytes)
    header = file.read(min(int.from_bytes(length, "little"), _MOST_HEADER_BYTES + 1))
    current_budget().spend(_BYTES_PER_HEADER_BYTE * len(header), "headers of arrays")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of headers that Python 2 wrote
        shape, fortran_order, dtype = read(io.BytesIO(length + header))
    return shape, fortran_order, dtype


def _read_content(file: Any, size: int, field: str) -> NDArray[np.uint8]:
    """Return the bytes behind a header, read in steps into one buffer, without a second copy."""
    content = np.empty(size, dtype=np.uint8)
    n_read = 0
    while n_read < size and (piece := file.read(min(_STEP_BYTES, size - n_read))):
        content[n_read : n_read + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
        n_read += len(piece)
    if n_read < size or file.read(1):
        found = f"{n_read} bytes" if n_read < size else "more bytes"
        raise InputError(f"{field} has {found}, its header says {size}; save it again")
    content.setflags(write=False)
    return content


def _require_size(size: int, field: str) -> None:
    if size > MAX_ARRAY_BYTES:
        raise InputError(f"{field} has {size} bytes, must be at most {MAX_ARRAY_BYTES}")
