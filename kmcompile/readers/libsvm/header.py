"""The header of LIBSVM's `.model` files: keys and values up to the line SV; of LIBLINEAR's, w."""

from __future__ import annotations

from kmcompile.errors import InputError
from kmcompile.readers.libsvm.text import (
    LARGEST_INT,
    Digits,
    Lines,
    error_in_line,
    integer,
    real,
    shown,
)

_KEYS = (
    *("svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho"),
    *("label", "probA", "probB", "prob_density_marks", "nr_sv"),
)
"""What svm_save_model writes: svm.cpp of LIBSVM 3.36. ThunderSVM writes the same in another
order, and for linear kernels a section of weights."""

KEYS = tuple(key.encode() for key in _KEYS)
"""The keys by which the format is recognised; LIBSVM reads them in any order."""

_REMEDY = "the file was altered or damaged, save the model again"


class Header:
    """Reads values by key; every error names the line, the key, its value and what it must be.

    Parameters
    ----------
    lines : Lines
        At the first line; afterwards at the line `end`.
    keys : tuple of str
    end : str

    Raises
    ------
    InputError
        A key is unknown or occurs twice.
    """

    def __init__(self, lines: Lines, keys: tuple[str, ...] = _KEYS, end: str = "SV") -> None:
        self.digits = Digits()
        self._values: dict[str, list[bytes]] = {}
        self._line_of: dict[str, int] = {}
        while True:
            words = lines.words(f"a key of the header, or {end}")
            if words == [end.encode()]:
                break
            key = words[0].decode("ascii") if words else ""
            if key == "coef":
                raise lines.error(
                    "coef begins the weights that ThunderSVM repeats behind a linear kernel; "
                    "remove this line and the next, the support vectors say the same"
                )
            if key not in keys:
                found = shown(words[0]) if words else "an empty line"
                raise lines.error(f"{found}, must be {', '.join(keys)} or {end}; {_REMEDY}")
            if key in self._values:
                raise lines.error(f"{key} again, first in line {self._line_of[key]}; {_REMEDY}")
            self._values[key], self._line_of[key] = words[1:], lines.number
        self._end = lines.number

    def has(self, key: str) -> bool:
        """Whether the key is there."""
        return key in self._values

    def error(self, key: str, problem: str, remedy: str = _REMEDY) -> InputError:
        """Return the error of one key."""
        number = self._line_of.get(key, self._end)
        return error_in_line(number, f"{key} {problem}; {remedy}")

    def choice(self, key: str, allowed: tuple[str, ...]) -> str:
        """Return a word out of `allowed`."""
        (word,) = self._words(key, 1)
        value = word.decode("ascii")
        if value not in allowed:
            raise self.error(key, f"is {shown(word)}, must be {', '.join(allowed)}")
        return value

    def integer(self, key: str, low: int, high: int) -> int:
        """Return an integer from `low` to `high`."""
        return self.integers(key, 1, low, high)[0]

    def integers(self, key: str, count: int, low: int, high: int = LARGEST_INT) -> tuple[int, ...]:
        """Return `count` integers from `low` to `high`."""
        values = []
        for word in self._words(key, count):
            value = integer(word, low, high)
            if value is None:
                raise self.error(key, f"is {shown(word)}, must be an integer from {low} to {high}")
            values.append(value)
        return tuple(values)

    def number(self, key: str) -> float:
        """Return a finite number."""
        return self.numbers(key, 1)[0]

    def numbers(self, key: str, count: int) -> tuple[float, ...]:
        """Return `count` finite numbers."""
        values = []
        for word in self._words(key, count):
            value = real(word)
            if isinstance(value, str):
                raise self.error(key, f"is {shown(word)}, must be {value}")
            self.digits.count(word)
            values.append(value)
        return tuple(values)

    def refuse(self, key: str, reason: str) -> None:
        """Raise InputError if the key is there."""
        if self.has(key):
            raise self.error(key, f"is there, {reason}")

    def _words(self, key: str, count: int) -> list[bytes]:
        if not self.has(key):
            raise self.error(key, "is missing from the header above")
        words = self._values[key]
        if len(words) != count:
            raise self.error(key, f"has {len(words)} values, must have {count}")
        return words
