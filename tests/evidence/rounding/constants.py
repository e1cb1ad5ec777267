"""Enclosures of ln 2 and pi by interval arithmetic (mpmath), as rationals."""

from __future__ import annotations

from fractions import Fraction

from mpmath import iv

_BITS = 240
iv.prec = _BITS

Enclosure = tuple[Fraction, Fraction]


def _enclosure(value: object) -> Enclosure:
    ends = []
    for sign, whole, exponent, _ in value._mpi_:  # type: ignore[attr-defined]
        ends.append((-1) ** sign * Fraction(int(whole)) * Fraction(2) ** exponent)
    return ends[0], ends[1]


LN2 = _enclosure(iv.log(2))
PI = _enclosure(+iv.pi)


def rest(enclosure: Enclosure, *parts: float) -> str:
    """Return an interval of the constant without the given parts, as Gappa reads it."""
    stored = sum((Fraction(float(part)) for part in parts), Fraction(0))
    scale = 2**200
    low, high = ((end - stored) * scale for end in enclosure)
    return (
        f"[{low.numerator // low.denominator}b-200, {-(-high.numerator // high.denominator)}b-200]"
    )
