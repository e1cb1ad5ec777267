"""The Jinja environment of the pages: here, unlike in C, everything is escaped as HTML.

Every inserted text also passes `kmcompile.text.visible`: people sign the page, and a label from a
file must not change the look of the text around it. Templates need not ask for this, and cannot
prevent it.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import jinja2
from markupsafe import Markup

from kmcompile import resources
from kmcompile.report.drawing import Plot
from kmcompile.text.visible import visible


@cache
def html_environment() -> jinja2.Environment:
    """Return the environment, one for all pages."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(resources.templates_dir()),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=True,
        finalize=_shown,
    )
    environment.filters["drawn"] = _drawn
    return environment


def _drawn(plot: Plot) -> Markup:
    """Return a plot as SVG, which kmcompile made: it is inserted as it is."""
    from kmcompile.report.svg import drawn  # matplotlib takes half a second to import

    return drawn(plot)


def _shown(value: Any) -> Any:
    """Return an inserted value as safe text; plots and results of macros are HTML already."""
    return value if isinstance(value, Markup) else visible(str(value))
