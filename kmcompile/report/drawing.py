"""Drawing of the plots of report.html: inline SVG in the colours of the page."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from typing import Any

import matplotlib
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import Formatter, LogFormatterSciNotation, NullLocator

# Stand-ins that matplotlib writes and `_svg` turns into the page's CSS variables, so that one
# plot fits the light and the dark theme.
INK, MUTED, GRID, ACCENT, WARM = "#010101", "#020202", "#030303", "#040404", "#050505"
_VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--line)",
    ACCENT: "var(--accent)",
    WARM: "var(--warm)",
}
SMALL, WIDE = (4.2, 3.3), (8.6, 3.9)
_STYLE: Any = {  # matplotlib's type lists every key of its own
    "svg.hashsalt": "kmcompile",
    "svg.fonttype": "none",
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": MUTED,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": GRID,
    "grid.linewidth": 0.6,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "legend.frameon": False,
}
_ENOUGH_TICKS = 3  # at powers of ten; with fewer there are small ones between them
_NO_METADATA: dict[str, str | None] = {"Date": None, "Creator": None, "Format": None, "Type": None}


@dataclass(frozen=True, slots=True)
class Plot:
    """An inline SVG with its heading and caption."""

    heading: str
    svg: str
    caption: str


def plot(
    prefix: str,
    heading: str,
    caption: str,
    on: Callable[[Any], None],
    size: tuple[float, float] = SMALL,
) -> Plot:
    """Return one figure, which does not depend on the user's matplotlib settings.

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
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = Figure(figsize=size)
        figure.patch.set_visible(False)
        axes = figure.add_subplot()
        axes.patch.set_visible(False)
        on(axes)
        _quicken(axes.xaxis)
        _quicken(axes.yaxis)
        # If the figure has the layout engine, matplotlib draws twice.
        ConstrainedLayoutEngine().execute(figure)
        return Plot(heading, _svg(figure, prefix, heading), caption)


def _quicken(axis: Any) -> None:
    """Speed up a logarithmic axis by leaving out formulas and small ticks."""
    if not isinstance(axis.get_major_formatter(), LogFormatterSciNotation):
        return
    axis.set_major_formatter(_Powers(axis.get_major_formatter()))
    axis.set_minor_formatter(_Powers(axis.get_minor_formatter()))
    low, high = sorted(axis.get_view_interval())
    if sum(low <= place <= high for place in axis.get_majorticklocs()) >= _ENOUGH_TICKS:
        axis.set_minor_locator(NullLocator())


class _Powers(Formatter):
    """Ticks as plain text such as 2×10⁻³: matplotlib's own are formulas, slow to set."""

    _DIGITS = str.maketrans("0123456789-\N{MINUS SIGN}", "⁰¹²³⁴⁵⁶⁷⁸⁹⁻⁻")

    def __init__(self, formula: Formatter) -> None:
        self._formula = formula

    def set_locs(self, locs: Any) -> None:
        """Tell the formatter of formulas where all ticks are."""
        self._formula.set_locs(locs)

    def __call__(self, x: float, pos: int | None = None) -> str:
        """Return the text of one tick."""
        text = re.sub(r"\$\\mathdefault\{(.*)\}\$", r"\1", self._formula(x, pos))
        text = text.replace(r"\times", "×")
        return re.sub(r"\^\{(.*?)\}", lambda found: found[1].translate(self._DIGITS), text)


def _svg(figure: Figure, prefix: str, heading: str) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata=_NO_METADATA)
    text = buffer.getvalue().decode("utf-8")
    text = text[text.index("<svg") :]
    for color, variable in _VARIABLES.items():
        text = text.replace(color, variable)
    # Several plots share the page: their identifiers must differ.
    text = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{prefix}-", text)
    name = f'role="img" aria-labelledby="{prefix}-title"'
    title = f'<title id="{prefix}-title">{escape(heading)}</title>'
    text = re.sub(r"<svg ([^>]*)>", rf"<svg {name} \1>{title}", text, count=1)
    # Hundredths of a point are enough, and last digits may differ between machines.
    return re.sub(r"(\d\.\d\d)\d+", r"\1", text).strip()


def dots(axes: Any, x: Any, y: Any, color: str, label: str | None = None) -> None:
    """Draw small dots."""
    axes.plot(x, y, "o", markersize=2.6, color=color, markeredgewidth=0, alpha=0.7, label=label)


def legend_above(axes: Any, **options: Any) -> None:
    """Draw the legend above the axes: the values may be anywhere inside."""
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=3, **options)
