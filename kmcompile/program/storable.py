"""What program.npz can hold: the classes that a Program is made of, found from its fields' types.

This is what a file may ask for, and nothing else is ever built from one. A new step, kernel or
stage is on the list by being one: nobody has to enter it.
"""

from __future__ import annotations

import inspect
import pkgutil
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import Any, get_args, get_type_hints

from kmcompile import kernels, steps
from kmcompile.program import stages
from kmcompile.program.program import Program

_ROOMS = (kernels, steps, stages)


def storable_classes() -> dict[str, type[Any]]:
    """Return `Program` and every dataclass that its fields can hold, by name.

    The types of the fields are followed, and of each type its subclasses: a field that says
    `Stage` holds any stage. Classes defined outside the package count as soon as they exist, so
    the list is made anew each time.

    Raises
    ------
    TypeError
        If two of them have the same name, which is all that a file tells of a class.
    """
    _import_rooms()
    found: dict[str, type[Any]] = {}
    ahead: list[type[Any]] = [Program]
    while ahead:
        candidate: Any = ahead.pop()  # mypy takes no class for hashable, which a cache asks for
        ahead.extend(candidate.__subclasses__())
        known = found.get(candidate.__name__)
        if known is candidate or not _is_storable(candidate):
            continue
        if known is not None:
            raise TypeError(f"{known} and {candidate} have the same name in program.npz")
        found[candidate.__name__] = candidate
        ahead.extend(_field_classes(candidate))
    return found


def _is_storable(candidate: type[Any]) -> bool:
    """Return whether there are objects of exactly this class, all of whose state is its fields.

    `dataclass(slots=True)` makes a second class of the one that is written down, and the first
    stays among the subclasses of its parents: it has no slots.
    """
    made = is_dataclass(candidate) and "__slots__" in vars(candidate)
    return made and not inspect.isabstract(candidate)


@cache
def _field_classes(of_class: type[Any]) -> tuple[type[Any], ...]:
    """Return the dataclasses and abstract classes in the types of a dataclass's fields.

    Numbers, texts and arrays are neither, and none of their subclasses is looked at.
    """
    types = get_type_hints(of_class)
    parts = [part for field in fields(of_class) for part in _parts(types[field.name])]
    return tuple(part for part in parts if is_dataclass(part) or inspect.isabstract(part))


def _parts(of_field: Any) -> Iterator[type[Any]]:
    """Yield the classes that a type is made of: of unions and tuples each one."""
    inner = get_args(of_field)
    for part in inner:
        yield from _parts(part)
    if not inner and isinstance(of_field, type):
        yield of_field


@cache
def _import_rooms() -> None:
    """Import each module with stages, steps or kernels: no subclass is missing."""
    for room in _ROOMS:
        for module in pkgutil.iter_modules(room.__path__):
            import_module(f"{room.__name__}.{module.name}")
