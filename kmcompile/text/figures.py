"""Number texts: counts, bytes, shares, errors and speed-ups as people read them."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import ROUND_CEILING, Context
from typing import SupportsFloat

MISSING = "–"  # of a table on a page; as wide as a digit


def count_text(value: float) -> str:
    """Return the text of a count, or of a mean of counts: commas between thousands.

    Examples
    --------
    >>> count_text(18712), count_text(4354.0), count_text(3.25), count_text(0)
    ('18,712', '4,354', '3.25', '0')
    """
    if value == int(value) or abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.3g}"


def bytes_text(value: int) -> str:
    """Return the text of a number of bytes, in B, KB or MB; 1 KB = 1,000 bytes.

    Examples
    --------
    >>> bytes_text(312), bytes_text(18_712), bytes_text(2_097_152)
    ('312 B', '18.7 KB', '2.10 MB')
    """
    if value < 1000:
        return f"{value} B"
    return f"{value / 1e3:.1f} KB" if value < 999_950 else f"{value / 1e6:.2f} MB"


def share_text(share: float) -> str:
    """Return a share in per cent; only the shares 1 and 0 read "100 %" and "0 %".

    Examples
    --------
    >>> share_text(1.0), share_text(0.99999), share_text(0.0089), share_text(1e-6), share_text(0)
    ('100 %', '> 99.99 %', '0.89 %', '< 0.01 %', '0 %')
    """
    if share in (0, 1):
        return f"{share:.0%}".replace("%", " %")
    if 0.9999 < share < 1:
        return "> 99.99 %"
    if 0 < share < 0.0001:
        return "< 0.01 %"
    return f"{100 * share:.3g} %" if 0.01 <= share < 0.99 else f"{100 * share:.2f} %"


def percent_beside(share: float, other: float) -> str:
    """Return a share in per cent, with as many digits as tell it from another share.

    Examples
    --------
    >>> percent_beside(0.01023, 0.01), percent_beside(0.01023, 0.02), percent_beside(0.01, 0.01)
    ('1.02 %', '1 %', '1 %')
    """
    told = float(f"{100 * other:.15g}")
    texts = (f"{100 * share:.{digits}g}" for digits in range(2, 18))
    apart = (one for one in texts if float(one) != told and (float(one) > told) == (share > other))
    text = f"{100 * share:.2g}" if share == other else next(apart, repr(100 * share))
    return f"{text} %"


def confidence_text(confidence: float) -> str:
    """Return the text of a confidence between 0 and 1 in per cent.

    Examples
    --------
    >>> confidence_text(0.99), confidence_text(0.999)
    ('99 %', '99.9 %')
    """
    return f"{100 * confidence:.4g} %"


def small_text(value: float) -> str:
    """Return the text of an error, a bound or a probability: three significant digits.

    Examples
    --------
    >>> small_text(1.37e-6), small_text(0.0), small_text(0.001), small_text(12.5)
    ('1.37e-6', '0', '0.001', '12.5')
    """
    text = f"{value:.3g}"
    mantissa, _, exponent = text.partition("e")
    return f"{mantissa}e{int(exponent)}" if exponent else mantissa


def ratio_text(value: float) -> str:
    """Return the text of a speed-up, "48.9 times" for example.

    Examples
    --------
    >>> ratio_text(1.0), ratio_text(48.93)
    ('1.0 times', '48.9 times')
    """
    return f"{value:,.1f} times"


def factor_text(value: SupportsFloat) -> str:
    """Return a factor in six digits, rounded up."""
    return f"{Context(prec=6, rounding=ROUND_CEILING).create_decimal_from_float(float(value)):g}"


def listed(words: Sequence[str]) -> str:
    """Return alternatives in words.

    Examples
    --------
    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b, or c')
    """
    *most, last = words
    return f"{', '.join(most)}, or {last}" if most else last


def counted(n: int, one: str, many: str) -> str:
    """Return a count with its words: `one` after 1, `many` after any other count.

    Examples
    --------
    >>> counted(1, "sample is", "samples are"), counted(1200, "sample is", "samples are")
    ('1 sample is', '1,200 samples are')
    """
    return f"{n:,} {one if n == 1 else many}"


def milliseconds_text(seconds: float) -> str:
    """Return a time in milliseconds.

    Examples
    --------
    >>> milliseconds_text(0.0421)
    '42.1 ms'
    """
    return f"{small_text(1e3 * seconds)} ms"
