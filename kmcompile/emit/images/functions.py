"""A parameter that is added to functions of emitted C and to their calls."""

from __future__ import annotations

import re
from typing import Final

from kmcompile.text.c_functions import Function, without_comments

_WORKS_ON: Final = re.compile(r"\*(?:const )?(?:workspace|state)\Z")
COLUMNS: Final = 100
_DEEPER: Final = "    "


def place_of(one: Function) -> int:
    """Return the number of the parameter of a function before which another one is added.

    It stands behind the object that the function works on, as in the interface.
    """
    first = one.parameter_text.split(",")[0].strip()
    return 1 if _WORKS_ON.search(first) else 0


def with_parameter(one: Function, parameter: str, body: str) -> str:
    """Return the text of the function with one more parameter and another body."""
    given, place = one.parameter_text, place_of(one)
    if given == "void":
        given = parameter
    elif given.startswith("\n"):
        lines = given.split(",\n")
        own = f"\n{_DEEPER}{parameter}" if place == 0 else f"{_DEEPER}{parameter}"
        if place == 0:
            lines[0] = lines[0].removeprefix("\n")
        lines.insert(place, own)
        given = ",\n".join(lines)
    else:
        parts = given.split(", ")
        parts.insert(place, parameter)
        given = ", ".join(parts)
        if len(f"{one.kind}{one.name}({given})") > COLUMNS:
            given = "".join(f"\n{_DEEPER}{part}," for part in parts).removesuffix(",")
    return f"{one.kind}{one.name}({given}){body}"


def with_argument(body: str, places: dict[str, int], argument: str) -> str:
    """Return C in which calls of some functions have one more argument.

    Parameters
    ----------
    body : str
    places : dict
        Name of each such function -> number of the argument before which the other is added.
    argument : str

    Examples
    --------
    >>> with_argument("a(x, b(y));", {"a": 1, "b": 0}, "m")
    'a(x, m, b(m, y));'
    """
    if not places:
        return body
    code = without_comments(body)
    called = re.compile(rf"\b({'|'.join(map(re.escape, sorted(places)))})\(")
    for found in reversed(list(called.finditer(code))):
        body = _with_argument(body, code, found.end(), places[found[1]], argument)
    return body


def _with_argument(body: str, code: str, start: int, place: int, argument: str) -> str:
    """Return the body with one more argument of the call whose arguments begin at `start`."""
    end = _end_of_argument(code, start)
    if place == 0 and code[start:end].strip() == "":
        return body[:start] + argument + body[start:]
    if place == 0:
        start += len(code[start:]) - len(code[start:].lstrip())
        return f"{body[:start]}{argument}, {body[start:]}"
    return f"{body[:end]}, {argument}{body[end:]}"


def _end_of_argument(code: str, start: int) -> int:
    """Return where the argument that begins at `start` ends: at a comma or the bracket."""
    depth = 0
    for place in range(start, len(code)):
        if depth == 0 and code[place] in ",)":
            return place
        depth += (code[place] in "([") - (code[place] in ")]")
    raise ValueError(f"no end of the call in {code[start : start + 40]!r}")


def fitted(text: str) -> str:
    """Return C without lines that are too long.

    Such a line continues 4 columns further in: behind the `=` of a declaration, or behind the
    bracket of its last call.
    """
    return "".join(_fitted(line) for line in text.splitlines(keepends=True))


def _fitted(line: str) -> str:
    text = line.removesuffix("\n")
    if len(text) <= COLUMNS:
        return line
    indent = text[: len(text) - len(text.lstrip())] + _DEEPER
    breaks = [found.end() for found in re.finditer(r" = |\w\((?=[^)])", without_comments(text))]
    for place in breaks:
        first, rest = text[:place].rstrip(), indent + text[place:]
        if len(first) <= COLUMNS and len(rest) <= COLUMNS:
            return f"{first}\n{rest}\n"
    return line
