"""Constant expressions of emitted C: integers, #defined names, + - * / and parentheses."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from typing import Final

_DEFINE: Final = re.compile(r"^#define (\w+) +([^\n\\]+)$", re.MULTILINE)
_INTEGER: Final = re.compile(r"\b(0[xX][0-9a-fA-F]+|\d+)[uU]?[lL]{0,2}\b")


_LONGEST: Final = 300
"""Characters of the longest expression that is read: a longer one could nest too deep."""


def integer_defines(*texts: str) -> dict[str, int]:
    """Return the #defined names that are constant expressions, with their values.

    A name with two values in branches of an `#if` is left out. So is a value that is no integer.

    Parameters
    ----------
    texts : str
        C texts without comments; a text comes after the texts whose names it uses.

    Examples
    --------
    >>> integer_defines("#define N 4U", "#define TWICE (2U * N)", "#define HALF 0.5f")
    {'N': 4, 'TWICE': 8}
    """
    values: dict[str, int] = {}
    differing: set[str] = set()
    for name, text in (match.groups() for each in texts for match in _DEFINE.finditer(each)):
        try:
            value = evaluate(text, values)
        except ValueError:
            continue
        if values.setdefault(name, value) != value:
            differing.add(name)
    return {name: value for name, value in values.items() if name not in differing}


def evaluate(text: str, defines: Mapping[str, int]) -> int:
    """Return the value of a constant expression.

    Raises
    ------
    ValueError
        If the text is no such expression, if it has an undefined name, if an intermediate value
        exceeds 32 bits, for which C would give another value, or beyond 300 characters.

    Examples
    --------
    >>> evaluate("2U * (IRIS_LANES - 1U)", {"IRIS_LANES": 4})
    6
    """
    if len(text) > _LONGEST:
        raise ValueError(f"a constant expression of {len(text):,} characters is too long")
    try:
        tree = ast.parse(_INTEGER.sub(r"\1", text.strip()), mode="eval")
    except SyntaxError as error:
        raise ValueError(f"{text.strip()!r} is no constant expression") from error
    return _value(tree.body, defines)


def _value(node: ast.expr, defines: Mapping[str, int]) -> int:
    """Return the value of a node of Python's syntax tree of the C expression."""
    match node:
        case ast.Constant(value=int(value)) if not isinstance(value, bool):
            result = value
        case ast.Name(id=name) if name in defines:
            result = defines[name]
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            result = _value(left, defines) + _value(right, defines)
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            result = _value(left, defines) - _value(right, defines)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            result = _value(left, defines) * _value(right, defines)
        case ast.BinOp(left=left, op=ast.Div(), right=right) if _value(right, defines) != 0:
            result = _value(left, defines) // _value(right, defines)
        case _:
            raise ValueError(f"{ast.unparse(node)!r} is no constant")
    if not 0 <= result < 2**32:
        raise ValueError(f"{ast.unparse(node)!r} is {result}, which has no 32 bits")
    return result
