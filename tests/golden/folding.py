"""Golden files without what an earlier one has already: a person reads the difference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kmcompile.text.c_functions import functions_of


def pieces(text: str) -> Iterator[tuple[str, str]]:
    """Yield (name of a function or "", text) of all of a file: each function with its comment."""
    before = 0
    for one in functions_of(text):
        if one.is_defined:
            start = text.rfind("\n\n", before, one.start) + 2
            start = start if start > 1 else before
            if text[before:start]:
                yield "", text[before:start]
            yield one.name, text[start : one.end + 1]
            before = one.end + 1
    yield "", text[before:]


def folded(text: str, earlier: Mapping[str, str]) -> str:
    """Return a file with a line in place of each function that an earlier file has.

    Parameters
    ----------
    text : str
    earlier : mapping of str to str
        The name of each earlier file -> its text, whole.

    Examples
    --------
    >>> function = "static int f(void)\\n{\\n    return 1;\\n}\\n"
    >>> folded(f"int a;\\n\\n{function}", {"first": function})
    'int a;\\n\\n/* f: as in first */\\n'
    """
    known = {
        piece: file
        for file in reversed(list(earlier))
        for name, piece in pieces(earlier[file])
        if name
    }
    return "".join(
        f"/* {name}: as in {known[piece]} */\n" if name and piece in known else piece
        for name, piece in pieces(text)
    )
