"""The arrays of a `.skops` file: `.npy` members, lists of objects, and sparse `.npz` members."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import ITEM_BYTES, current_budget
from kmcompile.readers.model_file import MAX_MODEL_BYTES
from kmcompile.readers.record import Record
from kmcompile.readers.samples.arrays import read_npy
from kmcompile.readers.skops.fields import damaged, text_field
from kmcompile.readers.zip_members import read_members

_SPARSE_MEMBERS = re.compile(r"(indices|indptr|format|shape|data|_is_array)\.npy")
_PLAIN = (str, int, float, type(None), np.generic)


class SkopsArrays:
    """The arrays of one archive, each decoded once for all its references.

    Parameters
    ----------
    members : dict of str to bytes
        The archive's files by name.
    """

    def __init__(self, members: dict[str, bytes]) -> None:
        self._members = members
        self._decoded: dict[str, np.ndarray[Any, Any]] = {}
        self._n_sparse_bytes = 0

    def of_numbers(self, node: Any) -> Any:
        """Return the array or numpy scalar of a `.npy` member."""
        module, name = text_field(node, "__module__"), text_field(node, "__class__")
        file = text_field(node, "file")
        if file not in self._decoded:
            self._decoded[file] = read_npy(io.BytesIO(self._member(file)), file)
        array = self._decoded[file]
        if module == "numpy" and name in ("ndarray", "memmap"):
            return array
        if module != "numpy" or array.shape != ():
            raise damaged(f"{file} is neither an array nor a scalar of numpy")
        current_budget().spend(2 * array.nbytes + ITEM_BYTES, f"a scalar of {array.nbytes} bytes")
        return array[()]

    def of_objects(self, items: list[Any], shape: Any) -> np.ndarray[Any, Any]:
        """Return an array of text or numbers as Python has them."""
        if shape != (len(items),) or not all(isinstance(item, _PLAIN) for item in items):
            raise damaged("an array of objects is not a list of text and numbers")
        array = np.empty(len(items), dtype=object)
        array[:] = items
        return array

    def sparse(self, node: Any) -> Record:
        """Return a CSR matrix, as scipy.sparse.save_npz wrote it."""
        kind, file = text_field(node, "__class__"), text_field(node, "file")
        if kind not in ("csr_matrix", "csr_array"):
            raise damaged(f"{file} is a sparse matrix of another kind than CSR")
        members = read_members(self._member(file), _SPARSE_MEMBERS)
        self._n_sparse_bytes += sum(map(len, members.values()))
        if self._n_sparse_bytes > MAX_MODEL_BYTES:
            raise InputError(
                f"its sparse matrices take more than {MAX_MODEL_BYTES} bytes; refused as unsafe"
            )
        if not members.get("format.npy", b"").endswith(b"csr"):
            raise damaged(f"{file} is a sparse matrix of another kind than CSR")
        parts = {}
        for name in ("indices", "indptr", "shape", "data"):
            raw = io.BytesIO(members.get(f"{name}.npy", b""))
            parts[name] = read_npy(raw, f"{file}: {name}")
        shape = parts.pop("shape")
        if shape.size != 2:
            raise damaged(f"{file} has no shape of two lengths")
        attributes = {**parts, "_shape": tuple(shape.ravel().tolist())}
        return Record("scipy.sparse._csr", kind, attributes)

    def _member(self, file: str) -> bytes:
        if file not in self._members:
            raise damaged(f"the file {file!a:.100} is missing")
        return self._members[file]
