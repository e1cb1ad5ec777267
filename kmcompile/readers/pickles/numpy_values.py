"""numpy's arrays, scalars and dtypes, rebuilt from the data of a pickle.

Each function takes the argument tuple that the file gives to numpy's own constructor, and
builds only arrays and scalars of numbers, text or plain objects, as fitted estimators need them,
and never more bytes than the file has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import ITEM_BYTES, current_budget
from kmcompile.readers.samples.shapes import bytes_of_shape, is_text

_DTYPE = re.compile(r"[<>|=]?(b1|[iu][1248]|f[248]|[US][1-9][0-9]{0,5}|O8?)")
_BYTE_ORDERS: dict[str, Literal["<", ">", "|", "="]] = {"<": "<", ">": ">", "|": "|", "=": "="}
_ORDERS: dict[str, Literal["C", "F"]] = {"C": "C", "F": "F"}
_PLAIN = (str, int, float, type(None), np.generic)


def damaged(what: str) -> InputError:
    """Return the error for a stream that no pickler writes."""
    return InputError(f"the pickle is damaged: {what}; save the model again")


@dataclass(slots=True, eq=False)
class Dtype:
    """A dtype of the file; its byte order comes with a later opcode."""

    value: np.dtype[Any]


def make_dtype(arguments: tuple[Any, ...]) -> Dtype:
    """Stand in for numpy.dtype: numbers, text and objects, no fields, no subarrays."""
    name = arguments[0] if arguments else None
    if type(name) is not str or not _DTYPE.fullmatch(name):
        shown = name[:20] if type(name) is str else type(name).__name__
        raise damaged(f"dtype {shown!a} is not one that an estimator uses")
    return Dtype(np.dtype(name))


def set_dtype_state(dtype: Dtype, state: Any) -> None:
    """Take the byte order; every other part of the state must agree with the dtype's name."""
    if type(state) is not tuple or len(state) < 5:
        raise damaged("the state of a dtype is malformed")
    if type(state[1]) is not str or state[1] not in _BYTE_ORDERS:
        raise damaged("the byte order of a dtype is malformed")
    if any(part is not None for part in state[2:5]):
        raise damaged("a dtype with fields is not one that an estimator uses")
    dtype.value = dtype.value.newbyteorder(_BYTE_ORDERS[state[1]])


def make_scalar(arguments: tuple[Any, ...]) -> np.generic:
    """Stand in for numpy's `scalar`."""
    match arguments:
        case (Dtype() as dtype, bytes() | str() as given) if not dtype.value.hasobject:
            raw = _bytes_of(given)
            current_budget().spend(2 * len(raw) + ITEM_BYTES, "a numpy scalar")
            return np.frombuffer(_checked(raw, dtype, (1,)), dtype=dtype.value)[0]  # type: ignore[no-any-return]
    raise damaged("a numpy scalar is malformed")


def make_empty_array(arguments: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Stand in for numpy's `_reconstruct`, which makes an array without content."""
    return np.empty((0,), dtype=np.int8)


def set_array_state(array: np.ndarray[Any, Any], state: Any) -> None:
    """Fill an array of `make_empty_array` in place, as other opcodes may refer to it."""
    match state:
        case (
            int(),
            tuple() as shape,
            Dtype() as dtype,
            int() as fortran,
            (bytes() | str()) as raw,
        ):
            content: Any = _checked(_bytes_of(raw), dtype, shape)
        case (
            int(),
            tuple() as shape,
            Dtype() as dtype,
            int() as fortran,
            list() as items,
        ):
            content = _checked_objects(items, dtype, shape)
        case _:
            raise damaged("the state of an array is malformed")
    if array.shape != (0,) or array.dtype != np.int8:
        raise damaged("an array is filled twice")
    if not dtype.value.isnative:
        current_budget().spend(len(content), "an array of the other byte order")
    # The stubs ask for numpy.bool, numpy itself for a plain one.
    array.__setstate__((1, shape, dtype.value, bool(fortran), content))  # type: ignore[arg-type]


def _bytes_of(given: bytes | str) -> bytes:
    """Return the bytes that Python 2 wrote as a text, which was decoded as latin-1."""
    if isinstance(given, bytes):
        return given
    current_budget().spend(len(given), "bytes that are given as text")
    try:
        return given.encode("latin1")
    except UnicodeEncodeError:
        raise damaged("bytes are malformed") from None


def make_array_from_buffer(arguments: tuple[Any, ...]) -> np.ndarray[Any, Any]:
    """Stand in for numpy's `_frombuffer` (protocol 5)."""
    match arguments:
        case ((bytes() | bytearray()) as raw, Dtype() as dtype, tuple() as shape, order):
            return array_from_bytes(raw, dtype, shape, order)
    raise damaged("an array of protocol 5 is malformed")


def array_from_bytes(
    raw: bytes | bytearray, dtype: Dtype, shape: tuple[Any, ...], order: Any
) -> np.ndarray[Any, Any]:
    """Return the array whose elements lie in `raw` in C or Fortran order."""
    if type(order) is not str or order not in _ORDERS:
        raise damaged("the order of an array is neither C nor F")
    content = _checked(raw, dtype, shape)
    if not content:
        return np.empty(shape, dtype=dtype.value)
    return np.frombuffer(content, dtype=dtype.value).reshape(shape, order=_ORDERS[order])


def array_bytes(dtype: Dtype, shape: Any) -> int:
    """Check the shape of an array; return the array's size in bytes."""
    try:
        return bytes_of_shape(shape, dtype.value.itemsize)
    except ValueError as error:
        raise damaged(f"the shape of an array {error}") from None


def _checked(raw: bytes | bytearray, dtype: Dtype, shape: Any) -> bytes:
    """Return `raw` if its length is exactly the array's size."""
    expected_bytes = array_bytes(dtype, shape)
    if dtype.value.hasobject:
        raise damaged("an array of objects is given as bytes")
    if len(raw) != expected_bytes:
        raise damaged(f"an array of {expected_bytes} bytes has {len(raw)}")
    current_budget().spend(len(raw) + ITEM_BYTES, f"an array of {len(raw)} bytes")
    if dtype.value.kind == "U" and not is_text(raw, dtype.value):
        raise damaged("an array of text holds no text")
    return bytes(raw)


def _checked_objects(items: list[Any], dtype: Dtype, shape: Any) -> list[Any]:
    """Return `items` if they are plain: nested arrays could exhaust the C stack when freed."""
    count = array_bytes(dtype, shape) // dtype.value.itemsize
    if not dtype.value.hasobject or len(items) != count:
        raise damaged(f"an array of {count} objects has {len(items)}")
    current_budget().spend_items(len(items), f"an array of {count} objects")
    if not all(isinstance(item, _PLAIN) for item in items):
        raise damaged("an array holds objects other than text and numbers")
    return items
