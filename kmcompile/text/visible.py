"""Texts from files, escaped so that a terminal or a page shows every character of them."""

from __future__ import annotations

_LINE_LENGTH_MAX = 500


def visible(text: str) -> str:
    r"""Return the text with every invisible character escaped as Python escapes it.

    It escapes control characters (ESC, NUL, line ends), format characters (Unicode's Cf: marks
    that turn the direction of the text behind them, and joiners of width 0, also where a script
    needs a joiner: two labels that differ by a joiner must look different), surrogates, private
    and unassigned characters, and every space but the ordinary one. Letters of every script stay.

    Examples
    --------
    >>> print(visible("benign\u202etnangilam \x1b[2J \x00"))
    benign\u202etnangilam \x1b[2J \x00
    >>> visible("größer 大") == "größer 大"
    True
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else _escape(c) for c in text)


def printable(line: str) -> str:
    """Escape a line for the terminal as `visible` does, and cut it if it is too long.

    Examples
    --------
    >>> printable("label \\x1b[2J")
    'label \\\\x1b[2J'
    """
    safe = visible(line)
    return safe if len(safe) <= _LINE_LENGTH_MAX else safe[:_LINE_LENGTH_MAX] + " ..."


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
