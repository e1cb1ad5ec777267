"""Plots as inline SVG, the same bytes every time: all that needs matplotlib."""

from __future__ import annotations

import io
import re
from html import escape
from typing import Any

import matplotlib
from markupsafe import Markup
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import (
    Formatter,
    FuncFormatter,
    LogFormatterSciNotation,
    LogLocator,
    NullFormatter,
    NullLocator,
)

from kmcompile.report.drawing import ACCENT, GRID, INK, MUTED, WARM, Plot
from kmcompile.text.figures import count_text

_VARIABLES = {
    INK: "var(--ink)",
    MUTED: "var(--muted)",
    GRID: "var(--line)",
    ACCENT: "var(--accent)",
    WARM: "var(--warm)",
}
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


def drawn(plot: Plot) -> Markup:
    """Return a plot as SVG, which does not depend on the user's matplotlib settings."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = Figure(figsize=plot.size)
        figure.patch.set_visible(False)
        axes = figure.add_subplot()
        axes.patch.set_visible(False)
        plot.on(axes)
        _quicken(axes.xaxis)
        _quicken(axes.yaxis)
        # If the figure has the layout engine, matplotlib draws twice.
        ConstrainedLayoutEngine().execute(figure)
        return Markup(_svg(figure, plot.prefix, plot.heading))


def counts_along(axis: Any, of_decade: tuple[float, ...]) -> None:
    """Give a logarithmic axis plain numbers, and ticks at some parts of each decade."""
    axis.set_major_locator(LogLocator(subs=of_decade))
    axis.set_major_formatter(FuncFormatter(lambda value, _: count_text(value)))
    axis.set_minor_formatter(NullFormatter())


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
