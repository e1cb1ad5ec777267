"""The constants of an ONNX graph: tensors whose data lie in the file and fit their shape."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.byte_budget import FLOAT_BYTES, current_budget
from kmcompile.readers.onnx.attributes import text
from kmcompile.readers.record import short_ascii

_FLOAT = 1
_TYPES = {
    _FLOAT: ("float_data", 4),
    2: ("int32_data", 1),
    3: ("int32_data", 1),
    4: ("int32_data", 2),
    5: ("int32_data", 2),
    6: ("int32_data", 4),
    7: ("int64_data", 8),
    8: ("string_data", None),
    9: ("int32_data", 1),
    10: ("int32_data", 2),
    11: ("double_data", 8),
    12: ("uint64_data", 4),
    13: ("uint64_data", 8),
}
"""TensorProto.DataType: the field that holds the elements, and an element's bytes in raw_data."""
_MAX_DIMENSIONS = 8
_COPIES = 6
"""Number of copies of a constant's numbers, as float64 and before the conversion."""


class Constants:
    """The initializers of a graph by name, all of them checked.

    Parameters
    ----------
    graph : GraphProto

    Raises
    ------
    InputError
        A tensor's data lie in another file, or their number contradicts its dims.
    """

    def __init__(self, graph: Any) -> None:
        if graph.sparse_initializer:
            raise InputError("the graph has sparse constants, which are not supported")
        self._tensors: dict[bytes, Any] = {}
        for tensor in graph.initializer:
            _check(tensor)
            if tensor.name in self._tensors:
                raise InputError(f"constant {_name(tensor)} is there twice; save the model again")
            self._tensors[tensor.name] = tensor

    def __contains__(self, name: bytes) -> bool:
        return name in self._tensors

    def vector(self, name: bytes, n: int) -> Float64Array:
        """Return a constant as n float32 numbers, one for all repeated."""
        shapes = ((), (1,), (n,), (1, 1), (1, n))
        return np.broadcast_to(
            self._values(name, shapes, f"of 1 or {n} values").ravel(), (n,)
        ).copy()

    def number(self, name: bytes) -> float:
        """Return a constant of one number."""
        return float(self._values(name, ((), (1,)), "of 1 value").ravel()[0])

    def matrix(self, name: bytes, n_columns: int) -> Float64Array:
        """Return a constant of two dimensions, float32 numbers."""
        dims = tuple(self._tensors[name].dims)
        n_rows = dims[0] if dims else 0
        shapes = ((n_rows, n_columns),) if n_rows else ()
        return self._values(name, shapes, f"a matrix of {n_columns} columns")

    def _values(self, name: bytes, shapes: tuple[Any, ...], allowed: str) -> Float64Array:
        """Return a constant of float32 numbers.

        Raises
        ------
        InputError
            The constant has another type or shape, or is not finite.
        """
        tensor = self._tensors[name]
        shape = tuple(tensor.dims)
        if tensor.data_type != _FLOAT or shape not in shapes:
            raise InputError(
                f"constant {_name(tensor)} has type {tensor.data_type} and shape {shape}, must be "
                f"float (1) and {allowed}; save the model again"
            )
        n_bytes = _COPIES * FLOAT_BYTES * math.prod(shape)
        current_budget().spend(n_bytes, f"constant {_name(tensor)}")
        raw = tensor.raw_data
        values = np.frombuffer(raw, dtype="<f4") if raw else np.array(tensor.float_data)
        if not np.all(np.isfinite(values)):
            raise InputError(f"constant {_name(tensor)} must be finite; retrain the model")
        return values.astype(np.float64).reshape(shape)


def _check(tensor: Any) -> None:
    if tensor.external_data or tensor.data_location:
        raise InputError(
            f"the data of constant {_name(tensor)} lie in another file, must be in this one; "
            "save the model in one file"
        )
    dims = tuple(tensor.dims[: _MAX_DIMENSIONS + 1])
    if len(dims) > _MAX_DIMENSIONS or min(dims, default=0) < 0:
        raise InputError(f"constant {_name(tensor)} has a malformed shape; save the model again")
    field, item_bytes = _TYPES.get(tensor.data_type, (None, None))
    if field is None:
        raise InputError(
            f"constant {_name(tensor)} has type {tensor.data_type}, which is not supported; "
            "save the model again"
        )
    n = math.prod(dims)
    raw_bytes, n_listed = len(tensor.raw_data), len(getattr(tensor, field))
    fits = n_listed == n if not raw_bytes else item_bytes and raw_bytes == n * item_bytes
    if not fits or (raw_bytes and n_listed):
        raise InputError(
            f"constant {_name(tensor)} of shape {dims} has {raw_bytes} raw bytes and {n_listed} "
            f"listed values, must have {n} values in one of the two ways; save the model again"
        )


def _name(tensor: Any) -> str:
    return f"'{short_ascii(text(tensor.name))}'"
