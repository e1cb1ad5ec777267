"""The loops of emitted C, found in its text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from kmcompile.text.c_functions import Function, functions_of, without_comments

_DIRECTIVE: Final = re.compile(r"^#(?:[^\n]*\\\n)*[^\n]*$", re.MULTILINE)
_JUMP: Final = re.compile(r"\b(for|while|do|goto)\b")
_TABLE_LINE: Final = re.compile(r"^    -?[0-9][^\n]*$", re.MULTILINE)
_WORD: Final = re.compile(r"\buint32_t (\w+)(?:;| = )")
_HEAD: Final = re.compile(r"^ *(for|while) \(", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Loop:
    """A `for` or `while` of emitted C.

    Attributes
    ----------
    function : str
        The function that contains the loop.
    line, last_line : int
        Lines, counted from 1, of the keyword and of the brace that closes the body.
    keyword : str
        `for` or `while`.
    head : tuple of str
        The parts in parentheses: start, condition and step, or the condition alone.
    body : str
        The code in braces, without comments.
    before : str
        The line before the keyword's.
    words : frozenset of str
        The unsigned 32-bit variables of the function.
    """

    function: str
    line: int
    last_line: int
    keyword: str
    head: tuple[str, ...]
    body: str
    before: str
    words: frozenset[str]

    @property
    def body_line(self) -> int:
        """Return the line of the brace that opens the body."""
        return self.last_line - self.body.count("\n")


def without_tables(text: str) -> str:
    """Return the C with empty lines in place of those of its tables' elements.

    Tables may be a hundred megabytes, and no loop is in them.
    """
    return _TABLE_LINE.sub("", text)


@lru_cache(maxsize=2)
def code_of(source: str) -> str:
    """Return the C with blanks in place of comments, strings and directives; its length stays."""
    code = without_comments(source)
    return _DIRECTIVE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), code)


@lru_cache(maxsize=2)
def defined_functions(source: str) -> tuple[Function, ...]:
    """Return the functions of a file in order."""
    return tuple(one for one in functions_of(code_of(source)) if one.is_defined)


def find_calls(source: str) -> Iterator[tuple[str, str, int]]:
    """Yield (caller, called function, line) of each call between functions of a file."""
    code = code_of(source)
    functions = defined_functions(source)
    called = re.compile(rf"\b({'|'.join(function.name for function in functions)})\b")
    for function in functions:
        for found in called.finditer(code, function.body_start, function.end):
            yield function.name, found[1], code.count("\n", 0, found.start()) + 1


@lru_cache(maxsize=2)
def find_loops(source: str) -> tuple[Loop, ...]:
    """Return the loops of a file in order.

    Raises
    ------
    ValueError
        If the file has a `do`, a `goto`, or a loop in another form than the templates'.
    """
    return tuple(_loops(source))


def _loops(source: str) -> Iterator[Loop]:
    code = code_of(source)
    lines = source.splitlines()
    understood = 0
    for function in defined_functions(source):
        words = frozenset(_WORD.findall(code, function.body_start, function.end))
        for found in _HEAD.finditer(code, function.body_start, function.end):
            number = code.count("\n", 0, found.start()) + 1
            where = f"line {number} of {function.name}"
            head_end = closing(code, found.end() - 1, "()", where)
            if not code.startswith(" {\n", head_end):
                raise ValueError(f"{where}: no brace after the head of a loop")
            body_end = closing(code, head_end + 1, "{}", where)
            inside = " ".join(code[found.end() : head_end - 1].split())
            head = tuple(part.strip() for part in inside.split(";"))
            if len(head) != (3 if found[1] == "for" else 1):
                raise ValueError(f"{where}: {inside!r} is no head of a {found[1]}")
            last = number + code.count("\n", found.start(), body_end)
            body = code[head_end + 1 : body_end]
            before = lines[number - 2]
            yield Loop(function.name, number, last, found[1], head, body, before, words)
            understood += 1
    if understood != len(_JUMP.findall(code)):
        raise ValueError("a loop or jump stands outside of a function or begins no line")


def closing(code: str, start: int, pair: str, where: str) -> int:
    """Return the index behind the bracket that closes the bracket at `start`.

    Raises
    ------
    ValueError
        If no bracket closes it; the text names `where`.
    """
    depth = 0
    for place in range(start, len(code)):
        depth += (code[place] == pair[0]) - (code[place] == pair[1])
        if depth == 0:
            return place + 1
    raise ValueError(f"{where}: {pair[0]} is not closed")
