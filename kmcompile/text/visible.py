"""Text that comes from a file, as a page that is signed, a terminal or a table shows it."""

from __future__ import annotations

_LINE_LENGTH_MAX = 500


def visible(text: str) -> str:
    r"""Return text in which every character can be seen: what cannot be is escaped as in Python.

    Escaped are control characters (ESC, NUL, line ends), format characters (Unicode's Cf: those
    that turn the direction of what follows, and joiners of width 0, also where a script needs
    them: two labels that differ by one must not look the same), surrogates, private and unassigned
    characters, and spaces other than the ordinary one. Letters of every script stay.

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
    """Escape what a hostile model could send to the terminal, and cut what is too long.

    Examples
    --------
    >>> printable("label \\x1b[2J")
    'label \\\\x1b[2J'
    """
    safe = visible(line)
    return safe if len(safe) <= _LINE_LENGTH_MAX else safe[:_LINE_LENGTH_MAX] + " ..."


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")
