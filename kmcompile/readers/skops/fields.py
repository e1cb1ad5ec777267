"""The fields of skops' nodes, each read with its checks."""

from __future__ import annotations

from typing import Any

from kmcompile.errors import InputError


def damaged(what: str) -> InputError:
    """Return the error for a file that skops cannot have written."""
    return InputError(f"the skops file is damaged: {what}; save the model again")


def field(node: Any, name: str) -> Any:
    """Return a field of a node."""
    if type(node) is not dict or name not in node:
        raise damaged(f"a node has no {name}")
    return node[name]


def text_field(node: Any, name: str) -> str:
    """Return a field that must be text."""
    value = field(node, name)
    if type(value) is not str:
        raise damaged(f"{name} of a node is no text")
    return value


def list_field(node: Any, name: str) -> list[Any]:
    """Return a field that must be a list."""
    value = field(node, name)
    if type(value) is not list:
        raise damaged(f"{name} of a node is no list")
    return value


def count(node: Any, name: str) -> int | None:
    """Return a field that must be an integer of 64 bits or null."""
    value = field(node, name)
    if value is None or (type(value) is int and abs(value) < 2**63):
        return value
    raise damaged(f"{name} of a node is no integer")
