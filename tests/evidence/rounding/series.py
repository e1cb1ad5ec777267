"""Bounds on polynomials over intervals in exact rational arithmetic: errors of approximation.

A polynomial is a list of rational coefficients, that of x^0 first. On a piece c - h .. c + h it is
at most |p(c)| + sum_k |p^(k)(c) / k!| h^k: a Taylor form, which holds without any rounding.
"""

from __future__ import annotations

from fractions import Fraction
from math import factorial, lcm

Polynomial = list[Fraction]


def fractions_of(numbers: list[float]) -> Polynomial:
    """Return floats as the rationals that they are."""
    return [Fraction(float(number)) for number in numbers]


def product(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return a b."""
    result = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, left in enumerate(a):
        for k, right in enumerate(b):
            result[i + k] += left * right
    return result


def difference(a: Polynomial, b: Polynomial) -> Polynomial:
    """Return a - b."""
    width = max(len(a), len(b))
    left = a + [Fraction(0)] * (width - len(a))
    return [x - y for x, y in zip(left, b + [Fraction(0)] * (width - len(b)), strict=True)]


def exponential(terms: int) -> Polynomial:
    """Return the first terms of the series of exp(x)."""
    return [Fraction(1, factorial(k)) for k in range(terms)]


def remainder(terms: int, reach: Fraction) -> Fraction:
    """Return a bound on what `terms` terms leave of exp, cosh, sinh or cos on |x| <= reach.

    The rest is at most reach^n / n! times 1 / (1 - reach / (n + 1)), a geometric series.
    """
    first = reach**terms / factorial(terms)
    return first / (1 - reach / (terms + 1))


def largest(p: Polynomial, low: Fraction, high: Fraction, pieces: int) -> list[Fraction]:
    """Return a bound on |p| for each of equal pieces of low .. high."""
    half = (high - low) / (2 * pieces)
    centres = [low + (2 * number + 1) * half for number in range(pieces)]
    return [_bound(p, centre, half) for centre in centres]


def _bound(p: Polynomial, centre: Fraction, half: Fraction) -> Fraction:
    """Return the bound for one piece, in integers over one denominator: a fraction is reduced once.

    With z = b x for the denominator b of the centre, b^n p(z / b) has coefficients without b below
    the line, and its centre is an integer: Horner's rule repeated gives those around it.
    """
    n, a, b = len(p) - 1, centre.numerator, centre.denominator
    below = lcm(*(c.denominator for c in p))
    moved = [c.numerator * (below // c.denominator) * b ** (n - k) for k, c in enumerate(p)]
    for start in range(n):
        for k in range(n - 1, start - 1, -1):
            moved[k] += a * moved[k + 1]
    wide, g = b * half.numerator, half.denominator
    total = sum(abs(c) * wide**k * g ** (n - k) for k, c in enumerate(moved))
    return Fraction(total, below * b**n * g**n)


def above(value: Fraction) -> str:
    """Return a power of two times a small integer that is at least `value`, in Gappa's language."""
    exponent = 0
    while value * 2**exponent < 128:
        exponent += 1
    whole = -(-value.numerator * 2**exponent // value.denominator)
    return f"{whole}b-{exponent}"
