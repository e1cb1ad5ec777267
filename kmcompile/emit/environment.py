"""The one Jinja environment; its filters write every number and every text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from pathlib import Path
from typing import Any

import jinja2

from kmcompile import resources
from kmcompile.emit import literals, marks


def _same(text: str) -> str:
    return text


FLOAT: dict[str, Any] = {
    "real": "float",
    "f": "f",
    "roundoff": "2^-24",
    "underflow": "2^-126",
    "down": _same,
    "up": _same,
    "single": _same,
    "replays": False,
}
DOUBLE: dict[str, Any] = {
    "real": "double",
    "f": "",
    "roundoff": "2^-53",
    "underflow": "2^-1022",
    "replays": True,
}
"""Values for the templates of arithmetic: its type, its literals' suffix, its error constants, and
how a number and the ends of an interval become float. The default is FLOAT. The replay adds
`single`, `down` and `up` to DOUBLE."""


_MARKS: ContextVar[bool] = ContextVar("marks", default=False)

_OF_NO_MODEL = ("scalar/", "replay/types", "telemetry/")
"""Where the templates begin whose constants are the same for every model."""


@contextmanager
def marked_numbers() -> Iterator[None]:
    """Let templates write marks (`kmcompile.emit.marks`) in place of a model's numbers."""
    before = _MARKS.set(True)
    try:
        yield
    finally:
        _MARKS.reset(before)


def environment() -> jinja2.Environment:
    """Return the environment of all C templates, those in registered folders included."""
    return _environment(resources.template_folders(), _MARKS.get())


@cache
def _environment(folders: tuple[Path, ...], marked: bool) -> jinja2.Environment:
    created = jinja2.Environment(
        loader=jinja2.FileSystemLoader(folders),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    created.globals |= FLOAT
    created.filters |= {
        "f32": literals.float32_literal,
        "constant": literals.float32_literal,
        "f64": literals.float64_literal,
        "real": literals.real_literal,
        "decimal": literals.decimal_literal,
        "u32": literals.unsigned_literal,
        "bits": literals.bits_literal,
        "power_of_two": literals.power_of_two,
        "u64": literals.long_literal,
        "number": literals.unsigned_literal,
        "plus": literals.plus_literal,
        "times": literals.times_literal,
        "string": literals.string_literal,
        "comment": literals.comment_text,
    }
    if marked:
        created.filters |= {
            "f32": marks.float32_mark,
            "f64": marks.float64_mark,
            "real": marks.real_mark,
            "bits": marks.bits_mark,
            "number": marks.bits_mark,
        }
    return created


def render(template: str, **context: Any) -> str:
    """Return the text of a template."""
    marked = _MARKS.get() and not template.startswith(_OF_NO_MODEL)
    text = (
        _environment(resources.template_folders(), marked).get_template(template).render(**context)
    )
    return text.lstrip("\n")
