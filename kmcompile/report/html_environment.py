"""The Jinja environment of the pages: here, unlike in C, everything is escaped as HTML.

What a template inserts is made visible before that: a page is signed, and a label from a file must
not steer how the text around it looks. No template has to ask for it, and none can leave it out.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from kmcompile import resources
from kmcompile.text.visible import visible


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
        finalize=_shown,
    )


def _shown(value: Any) -> Any:
    """Return what a template inserts: plots and what macros have made are HTML already."""
    return value if isinstance(value, Markup) else visible(str(value))
