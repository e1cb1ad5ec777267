"""Constant tables of the emitted C."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import google_crc32c
import numpy as np
from numpy.typing import NDArray

C_TYPES = {
    "float32": "float",
    "float64": "double",
    "int8": "int8_t",
    "uint8": "uint8_t",
    "int16": "int16_t",
    "uint16": "uint16_t",
    "int32": "int32_t",
    "uint32": "uint32_t",
    "uint64": "uint64_t",
}
"""The C type of each dtype a table may have."""


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """One constant array, flat in C, exactly as it will appear there.

    Parameters
    ----------
    name : str
        Its C name without the program's prefix.
    values : ndarray of a dtype in C_TYPES
    layout : str
        What it holds, with symbol and unit, and how the flat C array is to be indexed:
        "Weights w of it: [row][feature]", for its comment.
    """

    name: str
    values: NDArray[Any]
    layout: str

    @property
    def c_type(self) -> str:
        """The C type of an element."""
        return C_TYPES[self.values.dtype.name]

    @property
    def n_bytes(self) -> int:
        """The bytes of the table in flash."""
        return int(self.values.nbytes)

    def words(self) -> NDArray[np.uint32]:
        """Return the elements as 32-bit words in order: what the checksum is of.

        Of 64 bits there are two, the one with the lower bits first; a shorter integer is one.
        """
        flat = np.ascontiguousarray(self.values).reshape(-1)
        if flat.dtype.itemsize == 8:
            return flat.astype(flat.dtype.newbyteorder("<")).view("<u4").astype(np.uint32)
        return flat.view(np.uint32) if flat.dtype.itemsize == 4 else flat.astype(np.uint32)

    def checksum(self) -> int:
        """Return the CRC-32C of the elements, each as a 32-bit word, low byte first.

        Its check value is 0xE3069283.
        """
        return int(google_crc32c.value(self.words().astype("<u4").tobytes()))
