"""scipy's sparse matrices as dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.byte_budget import FLOAT_BYTES, current_budget
from kmcompile.readers.record import Record, describe, record_of
from kmcompile.readers.size_limits import require_room

_INDEX_COPIES = 3
"""Number of int64 copies of the columns: columns, rows, and two for comparing them."""


def is_sparse(value: Any) -> bool:
    """Whether `value` is a CSR matrix, scipy's own or as read from a file."""
    return not isinstance(value, np.ndarray) and _is_csr(record_of(value))


def _is_csr(record: Record) -> bool:
    known = record.module in ("scipy.sparse._csr", "scipy.sparse.csr")
    return known and record.name in ("csr_matrix", "csr_array")


def dense_matrix(value: Any, name: str) -> Float64Array:
    """Return a CSR matrix as a dense array; the error messages call it `name`.

    Every stored element is assigned, not added, so that signed zeros stay; therefore no
    element may be stored twice. LIBSVM takes each row's elements in the order of columns.
    """
    attributes = record_of(value).attributes
    shape = attributes.get("_shape")
    n_rows, n_columns = _checked_shape(shape, name)
    indptr, indices = (_integers(attributes.get(k), f"{name}.{k}") for k in ("indptr", "indices"))
    data = attributes.get("data")
    if not isinstance(data, np.ndarray) or data.dtype.kind not in "iuf" or data.ndim != 1:
        raise _altered(f"{name}.data is {describe(data)}, must be an array of numbers")
    # Compared, not subtracted: a difference of 64 bits can overflow.
    if len(indptr) != n_rows + 1 or indptr[0] != 0 or np.any(indptr[1:] < indptr[:-1]):
        raise _altered(f"{name}.indptr does not fit {n_rows} rows")
    if not indptr[-1] == len(indices) == len(data):
        raise _altered(f"{name} has {len(indices)} indices for {len(data)} values")
    if np.any(indices < 0) or np.any(indices >= n_columns):
        raise _altered(f"{name}.indices must be 0 to {n_columns - 1}")
    rows = np.repeat(np.arange(n_rows), np.diff(indptr))
    same_row = rows[1:] == rows[:-1]
    if np.any(same_row & (indices[1:] <= indices[:-1])):
        raise InputError(
            f"{name} has rows whose columns are not ascending; call sum_duplicates() and "
            "sort_indices() on the training data and retrain"
        )
    dense = np.zeros((n_rows, n_columns))
    dense[rows, indices] = data
    return dense


def _checked_shape(shape: Any, name: str) -> tuple[int, int]:
    match shape:
        case (int() | np.integer() as n_rows, int() | np.integer() as n_columns):
            n_rows, n_columns = int(n_rows), int(n_columns)
        case _:
            raise _altered(f"{name} has no shape")
    if n_rows < 0 or n_columns < 0:
        raise _altered(f"{name} has a negative shape")
    require_room(n_rows * n_columns, f"{name} as a dense array")
    n_bytes = FLOAT_BYTES * (n_rows * n_columns + n_rows)
    current_budget().spend(n_bytes, f"{name} as a dense array of {n_rows} x {n_columns}")
    return n_rows, n_columns


def _integers(value: Any, name: str) -> np.ndarray[Any, Any]:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "iu" or value.ndim != 1:
        raise _altered(f"{name} is {describe(value)}, must be an array of integers")
    current_budget().spend(_INDEX_COPIES * 8 * value.size, f"{name} of {value.size} integers")
    if value.size and int(value.max()) >= 2**62:
        raise _altered(f"{name} is out of range")
    return value.astype(np.int64)


def _altered(problem: str) -> InputError:
    return InputError(f"{problem}; the model was altered or damaged, save it again")
