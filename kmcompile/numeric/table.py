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
        The array's C name without the program's prefix.
    values : ndarray of a dtype in C_TYPES
    layout : str
        The comment of the C array: content, symbol, unit and order of indices, such as
        "Weights w of the linear filter: [row][feature]".
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
        """Return the elements as 32-bit words in order, over which the checksum goes.

        An element of 64 bits gives two words, the one of the lower bits first. A shorter integer
        gives one word.
        """
        flat = np.ascontiguousarray(self.values).reshape(-1)
        if flat.dtype.itemsize == 8:
            return flat.astype(flat.dtype.newbyteorder("<")).view("<u4").astype(np.uint32)
        return flat.view(np.uint32) if flat.dtype.itemsize == 4 else flat.astype(np.uint32)

    def checksum(self) -> int:
        """Return the CRC-32C of `words()`, each word with its low byte first.

        CRC-32C has the check value 0xE3069283 (the CRC of the ASCII text "123456789").
        """
        return int(google_crc32c.value(self.words().astype("<u4").tobytes()))
