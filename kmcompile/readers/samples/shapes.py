"""Checks of the shape and the text of an array in a file, before numpy reads it."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np

MAX_DIMENSIONS = 4
"""Vectors and matrices have two; numpy itself ends at 64."""

_MAX_LENGTH = 2**40

_MAX_BYTES = 2**60
"""numpy counts bytes in 63 bits, in an empty array those of its other lengths too."""


def bytes_of_shape(shape: Any, item_bytes: int) -> int:
    """Return the size in bytes of an array of this shape.

    Parameters
    ----------
    shape : tuple of int
        The shape in the file, which may hold any values.
    item_bytes : int

    Raises
    ------
    ValueError
        No array can have the shape; the text names the rule, without the shape.

    Examples
    --------
    >>> bytes_of_shape((3, 2), 8), bytes_of_shape((0, 7), 8)
    (48, 0)
    >>> bytes_of_shape((0, 2**63 - 1), 8)
    Traceback (most recent call last):
    ...
    ValueError: must have lengths from 0 to 1099511627775
    """
    if type(shape) is not tuple:
        raise ValueError("must be a tuple of integers")
    if len(shape) > MAX_DIMENSIONS:
        raise ValueError(f"must have at most {MAX_DIMENSIONS} dimensions")
    if not all(type(length) is int and 0 <= length < _MAX_LENGTH for length in shape):
        raise ValueError(f"must have lengths from 0 to {_MAX_LENGTH - 1}")
    if math.prod(length or 1 for length in shape) * item_bytes > _MAX_BYTES:
        raise ValueError(f"must have lengths that take at most {_MAX_BYTES} bytes")
    return math.prod(shape) * item_bytes


def is_text(content: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether the bytes of an array of text are characters.

    numpy makes a text of any numbers; with one beyond Unicode, Python fails later, in other ways
    than by ValueError.

    Parameters
    ----------
    content : bytes-like
    dtype : dtype
        Of kind "U".

    Examples
    --------
    >>> is_text(b"a\\0\\0\\0", np.dtype("<U1")), is_text(b"\\0\\0\\0a", np.dtype("<U1"))
    (True, False)
    """
    codes = np.frombuffer(content, dtype=np.dtype("u4").newbyteorder(dtype.byteorder))
    return not codes.size or bool(codes.max() <= sys.maxunicode)
