"""Check that data from a file is nested a few levels deep and has no cycle."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from kmcompile.errors import InputError
from kmcompile.readers.record import Record

MAX_DEPTH = 40
"""Largest depth. Nested pipelines need a handful; Python's recursion limit is near 1000."""


def check_nesting(root: Any) -> None:
    """Raise InputError if a container contains itself, or is nested deeper than `MAX_DEPTH`.

    The check is iterative and takes linear time, because the data is not trusted yet.
    """
    heights: dict[int, int] = {}
    open_ids: set[int] = {id(root)}
    path: list[tuple[Any, Iterator[Any]]] = [(root, _children(root))]
    while path:
        value, children = path[-1]
        child = next(children, path)
        if child is path:  # no child left
            path.pop()
            open_ids.discard(id(value))
            heights[id(value)] = 1 + max(
                (heights.get(id(inner), 0) for inner in _children(value)), default=0
            )
            if heights[id(value)] > MAX_DEPTH:
                raise InputError(
                    f"its data is nested more than {MAX_DEPTH} deep; refused as unsafe"
                )
        elif id(child) in open_ids:
            raise InputError("its data contains itself; refused as unsafe")
        elif id(child) not in heights and isinstance(child, list | tuple | dict | Record):
            open_ids.add(id(child))
            path.append((child, _children(child)))


def _children(value: Any) -> Iterator[Any]:
    if isinstance(value, list | tuple):
        return iter(value)
    if isinstance(value, dict):
        return iter(value.values())
    if isinstance(value, Record):
        return iter(value.attributes.values())
    return iter(())
