"""Arrays in `.npy` and `.npz`, without pickles, sizes checked before anything is decompressed."""

from __future__ import annotations

import lzma
import math
import warnings
import zipfile
import zlib
from typing import Any, BinaryIO

import numpy as np
from numpy.lib import format as npy_format
from numpy.typing import NDArray

from kmcompile.errors import InputError

MAX_ARRAY_BYTES = 4_000_000_000
_HEADERS = {
    (1, 0): npy_format.read_array_header_1_0,
    (2, 0): npy_format.read_array_header_2_0,
}
# What damaged bytes make zipfile and its decompressors raise.
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
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
    _require_size(archive.getinfo(f"{array}.npy").file_size, f"{name}: {array}")
    with archive.open(f"{array}.npy") as member:
        return read_npy(member, f"{name}: {array}")


def read_npy(file: Any, field: str) -> NDArray[Any]:
    """Return the array of an `.npy` stream.

    The header's size is believed only as far as bytes are there.

    Raises
    ------
    InputError
        If it is damaged, too large, or an array of objects (a pickle).
    """
    try:
        version = npy_format.read_magic(file)
        if version not in _HEADERS:
            raise InputError(f"{field} has .npy version {version}, must be 1.0 or 2.0")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of headers that Python 2 wrote
            shape, fortran_order, dtype = _HEADERS[version](file)
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
    if min(shape, default=0) < 0:
        raise InputError(f"{field} has shape {shape}, must not be negative")
    size = math.prod(shape) * dtype.itemsize
    _require_size(size, field)
    content = file.read(size + 1)
    if len(content) != size:
        found = f"{len(content)} bytes" if len(content) < size else "more bytes"
        raise InputError(f"{field} has {found}, its header says {size}; save it again")
    array: NDArray[Any] = np.frombuffer(content, dtype=dtype)
    return array.reshape(shape, order="F" if fortran_order else "C")


def _require_size(size: int, field: str) -> None:
    if size > MAX_ARRAY_BYTES:
        raise InputError(f"{field} has {size} bytes, must be at most {MAX_ARRAY_BYTES}")
