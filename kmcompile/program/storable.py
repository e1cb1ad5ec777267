"""The classes that program.npz can hold, found from the types of a Program's fields.

Loading a file builds objects of these classes only. A new step, kernel or stage is found by its
base class: there is no list to extend.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

from kmcompile.program.program import Program


def storable_classes() -> dict[str, type[Any]]:
    """Return `Program` and every dataclass that its fields can hold, by name.

    The search follows the types of fields and the subclasses of each type: a field of type `Stage`
    holds any stage. It runs anew at each call, so that it finds new classes outside the package.

    A file identifies a class by its name only. Of classes with one name none is returned: one that
    is defined twice, as in a notebook, hinders no program without it.
    """
    found: set[Any] = set()
    ahead: list[type[Any]] = [Program]
    while ahead:
        candidate: Any = ahead.pop()  # mypy takes no class for hashable, which a cache asks for
        ahead.extend(candidate.__subclasses__())
        if candidate in found or not _is_storable(candidate):
            continue
        found.add(candidate)
        ahead.extend(_field_classes(candidate))
    names = Counter(of_class.__name__ for of_class in found)
    return {one.__name__: one for one in found if names[one.__name__] == 1}


def _is_storable(candidate: type[Any]) -> bool:
    """Return whether objects of exactly this class can exist with all their state in fields.

    `dataclass(slots=True)` makes a second class from the written one. The written one has no slots
    and remains among the subclasses of its parents; it does not count.
    """
    made = is_dataclass(candidate) and "__slots__" in vars(candidate)
    return made and not inspect.isabstract(candidate)


@cache
def _field_classes(of_class: type[Any]) -> tuple[type[Any], ...]:
    """Return the dataclasses and abstract classes in the types of a dataclass's fields.

    Numbers, texts and arrays are neither, and their subclasses are not searched.
    """
    types = get_type_hints(of_class)
    parts = [part for field in fields(of_class) for part in _parts(types[field.name])]
    return tuple(part for part in parts if is_dataclass(part) or inspect.isabstract(part))


def _parts(of_field: Any) -> Iterator[type[Any]]:
    """Yield the classes in a type: each member of a union or tuple."""
    inner = get_args(of_field)
    for part in inner:
        yield from _parts(part)
    if not inner and isinstance(of_field, type):
        yield of_field
