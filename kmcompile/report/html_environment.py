"""The Jinja environment of the pages: here, unlike in C, everything is escaped as HTML."""

from __future__ import annotations

from functools import cache

import jinja2

from kmcompile import resources


@cache
def html_environment() -> jinja2.Environment:
    """Return the environment, one for all pages."""
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.templates_dir()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
    )
