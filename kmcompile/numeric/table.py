"""Constant tables of the emitted C."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import google_crc32c
import numpy as np
from numpy.typing import NDArray

_INTEGERS = ("int8", "uint8", "int16", "uint16", "int32", "uint32", "uint64")
C_TYPES = {"float32": "float", "float64": "double", **{name: f"{name}_t" for name in _INTEGERS}}
"""The C type of each dtype a table may have."""
BYTES = {c_type: np.dtype(name).itemsize for name, c_type in C_TYPES.items()}
"""The bytes of a number of each of these C types."""


@dataclass(frozen=True, slots=True)
class Below:
    """What the elements of a table of indices are below.

    Parameters
    ----------
    of : str, int or tuple of str
        A constant of the program, such as "N_DECISIONS", a number, or constants that are added. In
        the layout of a field also an attribute of the owner, such as "self.n_pieces".
    times : int
        How often.
    rises : bool
        Whether they rise and the last one is the constant itself: the ends of groups.
    """

    of: str | int | tuple[str, ...]
    times: int = 1
    rises: bool = False

    def end(self, name: str, known: Mapping[str, float]) -> int:
        """Return the first number that is too large for the elements of a table.

        Parameters
        ----------
        name : str
            Of the table, for the error.
        known : mapping of str to float
            The program's constants.

        Raises
        ------
        ValueError
            If no stage states a constant.
        """
        if isinstance(self.of, int):
            return self.times * self.of
        constants = (self.of,) if isinstance(self.of, str) else self.of
        for constant in constants:
            if constant not in known:
                raise ValueError(f"{name} is below {constant}, which no stage states")
        return self.times * int(sum(known[constant] for constant in constants))

    def check(self, name: str, values: NDArray[Any], known: Mapping[str, float]) -> None:
        """Check the elements of a table.

        Parameters
        ----------
        name : str
            Of the table, for the error.
        values : ndarray of integers
        known : mapping of str to float
            The program's constants.

        Raises
        ------
        ValueError
        """
        if not values.size:
            return
        end = self.end(name, known)
        if self.rises:
            flat = values.reshape(-1).astype(np.int64)
            if flat[-1] != end or (np.diff(flat) < 0).any():
                raise ValueError(f"{name} does not rise to {self.of} = {end}")
        elif values.max() >= end or values.min() < 0:
            raise ValueError(f"{name} has an element that is not from 0 to {end - 1}")


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
    counted : str
        The constant that counts the first axis, "" if the C has only a number.
    below : Below, optional
        What the elements are below, if other tables are read at them.
    """

    name: str
    values: NDArray[Any]
    layout: str
    counted: str = ""
    below: Below | None = None

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
