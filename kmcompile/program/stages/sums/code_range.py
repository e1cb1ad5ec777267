"""The codes of an input where no support vector is stored as codes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kmcompile.numeric.width import WIDTHS

_WORD = 1 << 32


@dataclass(frozen=True, slots=True)
class CodeRange:
    """An input of integer codes: how many, of which type, and from where to where.

    Parameters
    ----------
    n_features : int
    width : str
        The type of a code: "uint8", "int8" or "int16".
    low, high : int
        Least and largest code of an accepted input.
    """

    n_features: int
    width: str
    low: int
    high: int

    def __post_init__(self) -> None:
        if self.width not in WIDTHS:
            raise ValueError(f"a code is of type {self.width!r}, none of {', '.join(WIDTHS)}")
        self.check(np.array([self.low, self.high]))
        if self.low > self.high:
            raise ValueError(f"the codes of an input are from {self.low} to {self.high}")

    @property
    def largest(self) -> int:
        """The largest magnitude of a code of an input."""
        return max(-self.low, self.high)

    def check(self, codes: NDArray[np.int64]) -> None:
        """Check that codes are of the type; ValueError if one is not."""
        width = WIDTHS[self.width]
        if codes.min(initial=0) < width.low or codes.max(initial=0) > width.high:
            raise ValueError(f"a code is not from {width.low} to {width.high}")

    def largest_product(self, codes: NDArray[np.int64]) -> int:
        """Return a bound on |<s, x>| and on each of its partial sums, s being rows of codes."""
        return int(np.abs(codes).sum(axis=1).max(initial=0)) * self.largest

    def largest_distance(self, codes: NDArray[np.int64]) -> int:
        """Return a bound on |s - x|^2 and on |s|^2; features that are left out are 0 in every s."""
        apart = np.maximum(self.high - codes, codes - self.low)
        dropped = self.n_features - int(codes.shape[1])
        return int((apart**2).sum(axis=1).max(initial=0)) + dropped * self.largest**2

    def fits_words(self, codes: NDArray[np.int64]) -> bool:
        """Return whether 32 bits hold <s, x> with a sign, and |s - x|^2 plus 1, for a cutoff."""
        return self.largest_product(codes) < 1 << 31 and self.largest_distance(codes) < _WORD - 1

    def any_fits_words(self, n: int) -> bool:
        """Return whether 32 bits hold them with any vectors of the type, of n places."""
        width = WIDTHS[self.width]
        apart = max(width.high - self.low, self.high - width.low)
        most = max(-width.low, width.high) * self.largest
        return n * most < 1 << 31 and n * apart**2 < _WORD - 1
