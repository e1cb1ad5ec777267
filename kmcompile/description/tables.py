"""Arrays in a model description: short ones in the document, long ones in a file beside it."""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Float64Array

LONGEST = 64
"""The most numbers of an array that stands in the document itself."""

_TYPES = {"float64": "<f8", "int64": "<i8"}


class Tables:
    """The file of long arrays, which grows as arrays are added.

    Parameters
    ----------
    name : str
        Name of the file.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._parts: list[bytes] = []
        self._n_bytes = 0

    def add(self, array: np.ndarray[Any, Any]) -> dict[str, Any]:
        """Return what the document says of an array of float64 or of integers."""
        kind = "int64" if np.issubdtype(array.dtype, np.integer) else "float64"
        plain: dict[str, Any] = {"shape": list(array.shape), "type": kind}
        if array.size <= LONGEST:
            return {**plain, "values": array.reshape(-1).tolist()}
        content = np.ascontiguousarray(array, dtype=_TYPES[kind]).tobytes()
        where = {"file": self.name, "offset": self._n_bytes, "bytes": len(content)}
        self._parts.append(content)
        self._n_bytes += len(content)
        return {**plain, **where, "sha256": hashlib.sha256(content).hexdigest()}

    @property
    def content(self) -> bytes:
        """The bytes of the file; empty if every array is short."""
        return b"".join(self._parts)


def array_of(plain: dict[str, Any], content: bytes) -> Float64Array | np.ndarray[Any, Any]:
    """Return an array that a document describes.

    Parameters
    ----------
    plain : dict
        What `Tables.add` has returned.
    content : bytes
        The file of long arrays.

    Raises
    ------
    InputError
        If the bytes are not those that were described.
    """
    kind = _TYPES[plain["type"]]
    if "values" in plain:
        return np.array(plain["values"], dtype=kind).reshape(plain["shape"])
    part = content[plain["offset"] : plain["offset"] + plain["bytes"]]
    if hashlib.sha256(part).hexdigest() != plain["sha256"]:
        raise InputError(f"{plain['file']}: damaged; compile the model again")
    return np.frombuffer(part, dtype=kind).reshape(plain["shape"])
