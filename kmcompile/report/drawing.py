"""Drawing of the plots of report.html, in the colours of the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

# Stand-ins that matplotlib writes and `svg.drawn` turns into the page's CSS variables, so that one
# plot fits the light and the dark theme.
INK, MUTED, GRID, ACCENT, WARM = "#010101", "#020202", "#030303", "#040404", "#050505"
SMALL, WIDE = (4.2, 3.3), (8.6, 3.9)


@dataclass(frozen=True, slots=True)
class Plot:
    """A figure, which `svg.drawn` draws when it is shown.

    Parameters
    ----------
    prefix : str
        Prefix of the SVG's identifiers, unique on the page.
    heading, caption : str
    on : callable
        Function that draws on the given axes.
    size : (float, float)
        Width and height in inches of 72 points; texts have 9 points.
    """

    prefix: str
    heading: str
    caption: str
    on: Callable[[Any], None]
    size: tuple[float, float] = SMALL


def dots(axes: Any, x: Any, y: Any, color: str, label: str | None = None) -> None:
    """Draw small dots."""
    axes.plot(x, y, "o", markersize=2.6, color=color, markeredgewidth=0, alpha=0.7, label=label)


def legend_above(axes: Any, **options: Any) -> None:
    """Draw the legend above the axes: the values may be anywhere inside."""
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, **options)
