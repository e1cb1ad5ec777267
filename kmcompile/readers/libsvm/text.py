"""The lines, words and numbers of text files like LIBSVM's, read strictly.

Python's int() and float() take more than C's printf writes (underscores, the digits of other
alphabets, hexadecimal floats through fromhex); here a number is what `%d` and `%.17g` write.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Mapping

from kmcompile.errors import InputError
from kmcompile.readers.byte_budget import ITEM_BYTES, current_budget
from kmcompile.readers.record import short_ascii

MAX_LINE_BYTES = 10_000_000
"""Longest line: 400,000 features, or the pairs of 900 classes, of 25 characters each."""

MAX_TEXT_BYTES = 100_000_000
"""Largest file; no model that fits a microcontroller needs more than some megabytes."""

LARGEST_INT = 2**31 - 1
"""Largest value of LIBSVM's C type int."""

_LINE_BYTES, _WORD_BYTES = 5 * ITEM_BYTES, 2 * ITEM_BYTES
"""Cost of a line, and of a word, which is matched, converted and stored."""

_PRINTABLE = re.compile(rb"[\t -~]*\r?\n")
_INTEGER = re.compile(rb"[+-]?[0-9]{1,10}")
_REAL = re.compile(rb"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_NOT_FINITE = re.compile(rb"[+-]?(?:inf|infinity|nan|1\.#[a-z]+)", re.IGNORECASE)


def require_short(content: bytes) -> None:
    """Raise InputError if a text has more than `MAX_TEXT_BYTES` bytes."""
    if len(content) > MAX_TEXT_BYTES:
        raise InputError(
            f"{len(content)} bytes of text, must be at most {MAX_TEXT_BYTES}; "
            "train on fewer samples or features"
        )


class Lines:
    """Reads a text line by line; `number` is that of the line read last, from 1.

    Parameters
    ----------
    content : bytes
    """

    def __init__(self, content: bytes) -> None:
        require_short(content)
        self._stream = io.BytesIO(content)
        self._budget = current_budget()
        self.size_bytes = len(content)
        self.number = 0

    def words(self, expected: str) -> list[bytes]:
        """Return the words of the next line.

        Parameters
        ----------
        expected : str
            The expected line in words, for the error of a file that ends before it.

        Raises
        ------
        InputError
            There is no line, or it is cut short, too long or not of printable ASCII.
        """
        line = self._stream.readline(MAX_LINE_BYTES + 1)
        self.number += 1
        if not line:
            raise self.error(f"the file ends here, must have {expected}; save the model again")
        if len(line) > MAX_LINE_BYTES:
            raise self.error(f"longer than {MAX_LINE_BYTES} bytes; no such model fits")
        if not line.endswith(b"\n"):
            # Without a line end, a last number that lost digits would look complete.
            raise self.error("the file ends without a line break, cut short; save the model again")
        if not _PRINTABLE.fullmatch(line):
            raise self.error("has characters that are not printable ASCII; save the model again")
        # Spent before the split, because a line of short words becomes 20 times as large.
        n_words = line.count(b" ") + line.count(b"\t") + 1
        n_bytes = len(line) + _LINE_BYTES + n_words * _WORD_BYTES
        self._budget.spend(n_bytes, "the lines of the text")
        return line.split()

    def require_end(self) -> None:
        """Raise InputError if anything follows."""
        if self._stream.read(1):
            self.number += 1
            raise self.error("follows the last line of the model; it was altered, save it again")

    def error(self, problem: str) -> InputError:
        """Return the error of the line read last."""
        return error_in_line(self.number, problem)


def error_in_line(number: int, problem: str) -> InputError:
    """Return an error that starts with the line's number."""
    return InputError(f"line {number}: {problem}")


def shown(word: bytes) -> str:
    """Return a word for a message."""
    return f"'{short_ascii(word.decode('ascii'))}'"


def integer(word: bytes, low: int, high: int) -> int | None:
    """Return the word as an integer, or None if it is no integer from `low` to `high`."""
    if not _INTEGER.fullmatch(word):
        return None
    value = int(word)
    return value if low <= value <= high else None


def real(word: bytes) -> float | str:
    """Return the word as a number, or a text on the expected form."""
    if not _REAL.fullmatch(word):
        return "finite" if _NOT_FINITE.fullmatch(word) else "a decimal number"
    value = float(word)
    return value if math.isfinite(value) else "finite"


class Digits:
    """The most significant digits that a group of numbers is written with."""

    EXACT = 17
    """`%.17g` names every float64, IEEE 754-2008 section 5.12.2."""
    SHORT = 6
    """`%g` writes six digits; a number of fewer digits counts as exact, like gamma = 0.5."""

    def __init__(self) -> None:
        self.most = 0
        self._inexact = False

    def count(self, word: bytes) -> None:
        """Take a number into account."""
        if self.most >= self.EXACT or len(word) < self.SHORT:
            return
        n_digits = _significant(word)
        self.most = max(self.most, n_digits)
        if n_digits >= self.SHORT and not self._inexact:
            self._inexact = _significant(b"%.17g" % float(word)) > n_digits

    @property
    def rounded(self) -> bool:
        """Whether `%.17g` would have written more digits of some number."""
        return self._inexact and self.most < self.EXACT


def few_digits(groups: Mapping[str, Digits]) -> list[str]:
    """Return the note on groups of numbers that were rounded when they were saved, if any."""
    few = [f"{name} {digits.most}" for name, digits in groups.items() if digits.rounded]
    if not few:
        return []
    return [
        f"the file has few digits ({', '.join(few)}): what had more was rounded when it was "
        "saved, and is compiled as the file has it"
    ]


def _significant(word: bytes) -> int:
    mantissa = word.lower().partition(b"e")[0].lstrip(b"+-").replace(b".", b"")
    return len(mantissa.strip(b"0"))
