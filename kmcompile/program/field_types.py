"""Checks that the fields of a program and of its parts hold what their annotations say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache, partial
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np

from kmcompile.numeric.arrays import AtLeast

_Holds = Callable[[Any], bool]


def check_fields(part: Any) -> None:
    """Check the fields of a dataclass, and of each dataclass that they hold.

    Parameters
    ----------
    part : dataclass

    Raises
    ------
    ValueError
        If a field has a value of another type than its annotation says, NaN, or a number below
        its annotation's `AtLeast`.
    """
    of_class: Any = type(part)  # mypy takes no class for hashable, which a cache asks for
    for name, holds in _checks(of_class):
        value = getattr(part, name)
        if not holds(value):
            plain = isinstance(value, (bool, int, float, str, np.generic, NoneType))
            shown = repr(value) if plain else f"this {type(value).__name__}"
            raise ValueError(f"{type(part).__name__}.{name} cannot be {shown}")
        for item in value if type(value) is tuple else (value,):
            if is_dataclass(item) and not isinstance(item, type):
                check_fields(item)


@cache
def _checks(of_class: Any) -> tuple[tuple[str, _Holds], ...]:
    """Return what is asked of each field."""
    hints = get_type_hints(of_class, include_extras=True)
    return tuple((field.name, _check(hints[field.name])) for field in fields(of_class))


def _check(hint: Any) -> _Holds:
    """Return the function that tells whether a value is of a type; any is of one unknown here."""
    kind, inner = get_origin(hint), get_args(hint)
    if kind is Annotated:
        holds, least = _check(inner[0]), [one.least for one in inner if isinstance(one, AtLeast)]
        if not least:
            return holds
        return lambda value: holds(value) and (value is None or bool(np.all(value >= least[0])))
    if kind in (Union, UnionType):
        ways = [_check(one) for one in inner]
        return lambda value: any(way(value) for way in ways)
    if kind is Literal:
        return lambda value: value in inner and type(value) in map(type, inner)
    if kind is tuple:
        parts = [_check(one) for one in inner if one is not Ellipsis]
        if Ellipsis in inner:
            return lambda value: type(value) is tuple and all(map(parts[0], value))
        return lambda value: (
            type(value) is tuple
            and len(value) == len(parts)
            and all(holds(item) for holds, item in zip(parts, value, strict=True))
        )
    if kind is np.ndarray:
        return partial(_is_array, get_args(inner[1])[0])
    if hint in (bool, int, str, NoneType):
        return lambda value: type(value) is hint  # True is no int
    of = kind or hint
    if of is Any or not isinstance(of, type):
        return lambda value: True
    if of is float:  # as of a type checker, an int is one, too
        return lambda value: _is_number(value, (int, float, np.floating))
    if issubclass(of, np.floating):
        return lambda value: _is_number(value, of)
    return lambda value: isinstance(value, of)


def _is_number(value: Any, of: Any) -> bool:
    """Return whether a value is a number of one of the types, and not NaN."""
    return isinstance(value, of) and not isinstance(value, bool) and not np.isnan(value)


def _is_array(element: Any, value: Any) -> bool:
    """Return whether a value is an array of a type, or of a narrower one of integers."""
    if not isinstance(value, np.ndarray):
        return False
    number = np.generic if element is Any else get_origin(element) or element
    if value.dtype.kind in "iu" and not issubclass(value.dtype.type, number):
        return np.can_cast(value.dtype, number)
    return issubclass(value.dtype.type, number) and not np.isnan(value).any()
