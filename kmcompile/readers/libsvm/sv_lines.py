"""The support vectors of LIBSVM's `.model` files: the lines behind SV."""

from __future__ import annotations

import re
from array import array

import numpy as np
from numpy.typing import NDArray

from kmcompile.errors import InputError
from kmcompile.numeric.arrays import Float64Array
from kmcompile.readers.byte_budget import FLOAT_BYTES, current_budget
from kmcompile.readers.libsvm.text import LARGEST_INT, Digits, Lines, integer, real, shown

MAX_DENSE_BYTES = 200_000_000
"""Largest size of the vectors with their zeros that is always accepted."""

SMALL_DENSE_BYTES = 10_000_000
MAX_DENSE_RATIO = 1000
"""Largest ratio of the bytes of larger vectors to the bytes of the text: a short file can name a
very large index. In sparse data one value in a thousand is not 0, and takes 10 characters."""

_COPIES = 2
"""Number of copies of the vectors with their zeros: the reader's and the machine's."""

_PAIR = re.compile(rb"([^:]*):([^:]*)")


class SupportVectors:
    """Reads coefficients and vectors: a line is `n_rows` coefficients, then index:value pairs.

    Parameters
    ----------
    lines : Lines
        At the line SV; afterwards at the last line.
    n_sv, n_rows : int
    n_features : int
        The width of the vectors, where the file tells it; they are no narrower.

    Attributes
    ----------
    coefficients : ndarray of shape (n_rows, n_sv), float64
    vectors : ndarray of shape (n_sv, width), float64
    first_index : int
        0 where features count from 0, as LIBSVM's C and Java interfaces let them, otherwise 1.
    coefficient_digits, vector_digits : Digits

    Raises
    ------
    InputError
        A line is malformed, or there are fewer or more than `n_sv`.
    """

    def __init__(self, lines: Lines, n_sv: int, n_rows: int, n_features: int = 0) -> None:
        self.coefficient_digits, self.vector_digits = Digits(), Digits()
        self._lines = lines
        self._coefficients, self._values = array("d"), array("d")
        self._rows, self._columns = array("q"), array("q")
        for row in range(n_sv):
            words = lines.words(f"{n_sv - row} more support vectors (total_sv is {n_sv})")
            if len(words) < n_rows:
                found = f"has {len(words)} coefficients, must have {n_rows}"
                raise lines.error(f"{found} (nr_class - 1); save the model again")
            self._read_coefficients(words[:n_rows])
            self._read_pairs(row, words[n_rows:])
        lines.require_end()
        self.coefficients = np.frombuffer(self._coefficients).reshape(n_sv, n_rows).T
        columns = np.frombuffer(self._columns, dtype=np.int64)
        self.first_index = 0 if columns.min(initial=1) == 0 else 1
        self.vectors = self._dense(n_sv, columns - self.first_index, n_features)

    def _read_coefficients(self, words: list[bytes]) -> None:
        for word in words:
            self._coefficients.append(self._real("the coefficient", word))
            self.coefficient_digits.count(word)

    def _read_pairs(self, row: int, words: list[bytes]) -> None:
        previous = -1
        for word in words:
            match = _PAIR.fullmatch(word)
            if match is None:
                raise self._lines.error(f"{shown(word)}, must be index:value; save the model again")
            index = integer(match[1], previous + 1, LARGEST_INT)
            if index is None:
                raise self._index_error(match[1], previous)
            self._values.append(self._real(f"the value of index {index}", match[2]))
            self.vector_digits.count(match[2])
            self._rows.append(row)
            self._columns.append(index)
            previous = index

    def _real(self, what: str, word: bytes) -> float:
        value = real(word)
        if isinstance(value, str):
            found = f"{what} is {shown(word)}, must be {value}"
            raise self._lines.error(f"{found}; save the model again")
        return value

    def _index_error(self, word: bytes, previous: int) -> InputError:
        allowed = f"an integer from {previous + 1} (they ascend, from 0 or 1) to {LARGEST_INT}"
        return self._lines.error(f"index {shown(word)}, must be {allowed}; save the model again")

    def _dense(self, n_sv: int, columns: NDArray[np.int64], n_features: int) -> Float64Array:
        width = max(int(columns.max(initial=-1)) + 1, n_features)
        if width == 0:
            raise self._lines.error("no support vector has a feature; retrain the model")
        n_bytes = n_sv * width * FLOAT_BYTES
        largest = max(SMALL_DENSE_BYTES, MAX_DENSE_RATIO * self._lines.size_bytes)
        largest = min(largest, MAX_DENSE_BYTES)
        if n_bytes > largest:
            raise self._lines.error(
                f"{n_sv} vectors of {width} features (the largest index) take {n_bytes} bytes, "
                f"must be at most {largest}; leave out the features that are always 0"
            )
        current_budget().spend(_COPIES * n_bytes, f"{n_sv} vectors of {width} features")
        dense = np.zeros((n_sv, width))
        dense[np.frombuffer(self._rows, dtype=np.int64), columns] = np.frombuffer(self._values)
        return dense
