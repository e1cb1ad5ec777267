"""report.json: made of its sections, checked against `schema.json`; equal reports, equal bytes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kmcompile import json_schema
from kmcompile.errors import InputError
from kmcompile.report.missing import Content, Missing

_SCHEMA = Path(__file__).with_name("schema.json")


def to_dict(content: Content) -> dict[str, Any]:
    """Return report.json as plain data, its fields in their order, the reasons of nulls at the end.

    Raises
    ------
    ValueError
        If a field breaks the schema, or if there is a None without a reason. This is a defect of
        the caller.
    """
    report, reasons = plain(content)
    report["not_available"] = dict(sorted(reasons.items()))
    validate(report)
    return report


def plain(content: Content) -> tuple[dict[str, Any], dict[str, str]]:
    """Return dataclasses, mappings, sequences and numpy scalars as JSON's own types.

    Fields that are Missing are null; the reason of each is under its path in the second dict.
    """
    reasons: dict[str, str] = {}

    def told(value: Any, path: str) -> Any:
        if isinstance(value, Missing):
            reasons[path] = value.why
            return None
        if is_dataclass(value):
            value = {field.name: getattr(value, field.name) for field in fields(value)}
        if isinstance(value, Mapping):
            return {str(key): told(item, where) for key, item, where in _below(value, path)}
        if isinstance(value, list | tuple):
            return [told(item, where) for _, item, where in _below(value, path)]
        return value.item() if isinstance(value, np.generic) else value

    return told(content, ""), reasons


def dumps(report: Mapping[str, Any]) -> bytes:
    """Return the canonical bytes of report.json.

    Two spaces of indentation, the fields in their order, shortest decimals that read back equal,
    ASCII only (a label may hold characters that reorder text), a newline at the end.

    Raises
    ------
    ValueError
        If a value is NaN or infinite.
    """
    return (json.dumps(report, indent=2, allow_nan=False) + "\n").encode("ascii")


def parse(content: bytes, name: str) -> dict[str, Any]:
    """Return the report in the bytes of a report.json.

    Raises
    ------
    InputError
        If the text is no report, or a report of another release.
    """
    try:
        report = json.loads(content)
        validate(report)
    except (ValueError, RecursionError) as error:
        reason = str(error).splitlines()[0]
        raise InputError(f"{name} is no report of this kmcompile: {reason}") from error
    checked: dict[str, Any] = report
    return checked


def validate(report: Any) -> None:
    """Check a report against the schema, and every null against its reason.

    Raises
    ------
    ValueError
        If a value or a null breaks its rule; the text names the field, the value and the rule.
    """
    fault = json_schema.fault(_SCHEMA, report)
    if fault is not None:
        raise ValueError(f"{fault[0] or 'the report'}: {fault[1][:300]}")
    json.dumps(report, allow_nan=False)  # the schema lets NaN and infinities pass
    names = [stage["name"] for stage in report["stages"]]
    if len(set(names)) != len(names):
        raise ValueError(f"stages: names {names} must differ")
    nulls = set(_null_paths(report))
    reasons = report["not_available"].keys()
    if nulls - reasons:
        missing = ", ".join(sorted(nulls - reasons))
        raise ValueError(f"not_available: no reason for {missing}, which is null")
    if reasons - nulls:
        needless = ", ".join(sorted(reasons - nulls))
        raise ValueError(f"not_available: a reason for {needless}, which is not null")


def _null_paths(value: Any, path: str = "") -> Iterator[str]:
    """Yield the path of each null."""
    if value is None:
        yield path
    elif isinstance(value, dict | list):
        for _, item, where in _below(value, path):
            yield from _null_paths(item, where)


def _below(value: Any, path: str) -> Iterator[tuple[Any, Any, str]]:
    """Yield the key, value and path of each item; elements of `stages` and `formats` have names."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield key, item, f"{path}.{key}" if path else str(key)
        return
    for number, item in enumerate(value):
        own = item if isinstance(item, Mapping) else {}
        yield number, item, f"{path}.{own.get('name', own.get('format', number))}"
