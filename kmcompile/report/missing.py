"""Why a field of report.json is null: the reason stands where the value would."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, TypeVar

Content = dict[str, Any]
"""A section of report.json, or all of it, whose fields and their order `schema.json` describes."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Missing:
    """A field that does not apply: null in report.json, with `why` under its path there."""

    why: str


def known(value: _T | None, why: str) -> _T | Missing:
    """Return a value, or why there is none."""
    return Missing(why) if value is None else value


def each_known(found: Any, why: str) -> Content | Missing:
    """Return the fields of a dataclass, one reason for each that is None, or for itself."""
    if found is None:
        return Missing(why)
    return {field.name: known(getattr(found, field.name), why) for field in fields(found)}
