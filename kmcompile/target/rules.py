"""Rules for the description of a target that a JSON schema cannot express."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from itertools import combinations
from typing import Any

from kmcompile import resources

_ADDRESSES = 2**32
_REGIONS = ("flash", "ram", "tables", "queries")
_OWN_CALLS = {"boot/avr.c.j2": "avr instructions"}
"""The source of the call graph by start-up template, where the source is not the compiler."""


def broken_rule(description: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the first field that breaks a rule and the text of the rule, or None.

    Parameters
    ----------
    description : mapping
        A description that the schema accepts.
    """
    return next(_broken(description), None)


def _broken(description: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    yield from _broken_values(description, "")
    boot = description.get("boot")
    yield from _without_file("program.arithmetic", description["program"].get("arithmetic"))
    if boot is not None:
        yield from _without_file("boot.startup", boot["startup"])
        yield from _broken_memory(boot)
        calls_from = description["compiler"].get("calls_from", "compiler")
        own = _OWN_CALLS.get(boot["startup"], "compiler")
        if calls_from != own:
            yield "compiler.calls_from", f"{own!r} with {boot['startup']}, is {calls_from!r}"


def _broken_values(value: Any, field: str) -> Iterator[tuple[str, str]]:
    """Yield the fields that hold a text that is not printable or a number that is no integer."""
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _broken_values(part, f"{field}.{key}" if field else key)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _broken_values(part, field)
    elif isinstance(value, str) and not value.isprintable():
        yield field, f"printable text, is {value!r}"
    elif isinstance(value, float) and not math.isfinite(value):
        yield field, f"a finite number, is {value}"
    elif isinstance(value, float) and field.startswith(("boot.", "part.", "compiler.")):
        yield field, f"an integer, is {value}"


def _without_file(field: str, template: str | None) -> Iterator[tuple[str, str]]:
    if template and not (resources.templates_dir() / template).is_file():
        yield field, f"a file of the templates, {template} is none"


def _broken_memory(boot: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    spans = {
        name: range(boot[name]["origin"], boot[name]["origin"] + boot[name]["bytes"])
        for name in _REGIONS
        if name in boot
    }
    for name, span in spans.items():
        if span.stop > _ADDRESSES:
            yield f"boot.{name}", f"below 4 GiB, ends at {span.stop:#x}"
    for (name, span), (other, beside) in combinations(spans.items(), 2):
        if span.start < beside.stop and beside.start < span.stop:
            yield (
                f"boot.{other}",
                f"apart from boot.{name}, both hold {max(span.start, beside.start):#x}",
            )
    if boot["stack_bytes"] >= len(spans["ram"]):
        yield "boot.stack_bytes", f"less than the {len(spans['ram']):,} bytes of boot.ram"
