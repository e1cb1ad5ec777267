"""Counts in sentences, for notes and messages."""

from __future__ import annotations


def counted(n: int, one: str, many: str) -> str:
    """Return a count with the words that go with it.

    Examples
    --------
    >>> counted(1, "sample is", "samples are"), counted(1200, "sample is", "samples are")
    ('1 sample is', '1,200 samples are')
    """
    return f"{n:,} {one if n == 1 else many}"
