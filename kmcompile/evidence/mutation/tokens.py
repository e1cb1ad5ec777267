"""The tokens of a C file with their places, without comments, texts and directives."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<skip>/\*.*?\*/|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|^[ \t]*\#(?:\\\n|[^\n])*)
    |(?P<number>0[xX][0-9a-fA-F]*\.?[0-9a-fA-F]*(?:[pP][+-]?\d+)?[uUlLfF]*
        |\d+\.\d*(?:[eE][+-]?\d+)?[fFlL]?|\d+[uUlL]*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<sign>\+\+|--|->|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[-+*/%&|^~!<>=?:;,.(){}\[\]])
    """,
    re.X | re.S | re.M,
)


@dataclass(frozen=True, slots=True)
class Token:
    """A token of a C file.

    Attributes
    ----------
    kind : {"number", "word", "sign"}
    start, end : int
        Its place in the text.
    """

    kind: str
    text: str
    start: int
    end: int


def tokens(source: str) -> Iterator[Token]:
    """Yield the tokens of a C file in their order.

    Examples
    --------
    >>> [one.text for one in tokens("x[0] += 2U; /* two */")]
    ['x', '[', '0', ']', '+=', '2U', ';']
    """
    for found in _TOKEN.finditer(source):
        kind = found.lastgroup
        if kind is not None and kind != "skip":
            yield Token(kind, found[0], found.start(), found.end())
