"""The plots of report.html: inline SVG whose colours are the page's, the same bytes every time."""

from __future__ import annotations

import io
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import matplotlib
import numpy as np
from matplotlib.figure import Figure
from numpy.typing import NDArray

from kmcompile.report.evidence import Evidence
from kmcompile.report.figures import count_text, share_text, small_text

# Stand-ins that matplotlib writes and `_svg` turns into the page's CSS variables, so that one
# plot fits the light and the dark theme.
_INK, _MUTED, _GRID, _ACCENT, _WARM = "#010101", "#020202", "#030303", "#040404", "#050505"
_VARIABLES = {
    _INK: "var(--ink)",
    _MUTED: "var(--muted)",
    _GRID: "var(--line)",
    _ACCENT: "var(--accent)",
    _WARM: "var(--warm)",
}
_STYLE: Any = {  # matplotlib's type lists every key of its own
    "svg.hashsalt": "kmcompile",
    "svg.fonttype": "none",
    "font.size": 9,
    "text.color": _INK,
    "axes.edgecolor": _MUTED,
    "axes.labelcolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": _GRID,
    "grid.linewidth": 0.6,
    "xtick.color": _MUTED,
    "ytick.color": _MUTED,
    "xtick.labelcolor": _INK,
    "ytick.labelcolor": _INK,
    "legend.frameon": False,
}
_NO_METADATA: dict[str, str | None] = {"Date": None, "Creator": None, "Format": None, "Type": None}
_POINTS_MAX = 600


@dataclass(frozen=True, slots=True)
class Plot:
    """An inline SVG with its heading and caption."""

    heading: str
    svg: str
    caption: str


def plots(evidence: Evidence) -> list[Plot]:
    """Return the plots of the evidence; none without queries."""
    if not len(evidence):
        return []
    shown = _sample(evidence)
    of = f"{count_text(len(shown))} of {count_text(len(evidence))} values shown, the ones nearest "
    of += "0 and those nearest their bound among them."
    if len(shown) == len(evidence):
        of = f"All {count_text(len(evidence))} values shown."
    return [
        Plot(
            "The C against the float64 model",
            _draw("a", _draw_agreement, evidence, shown),
            "On the line both are equal; they may differ by the bound, which is at most "
            f"{small_text(float(evidence.bound.max()))}. {of}",
        ),
        Plot(
            "Error and bound",
            _draw("b", _draw_errors, evidence, shown),
            "Every error must lie below its bound. Where a bound lies below the dashed line, it "
            f"is smaller than the decision value, and the sign is certain. {_omitted(evidence)}",
        ),
        Plot(
            "How much of its bound each error uses",
            _draw("c", _draw_shares, evidence, np.arange(len(evidence))),
            f"{_largest_share(evidence)} An error right of the dashed line would break its bound.",
        ),
    ]


def _sample(evidence: Evidence) -> NDArray[np.intp]:
    """Return the indices to draw: evenly over the ranks of abs(reference), and the extremes."""
    n = len(evidence)
    if n <= _POINTS_MAX:
        return np.arange(n)
    extremes = _POINTS_MAX // 6
    by_size = np.argsort(np.abs(evidence.reference), kind="stable")
    by_share = np.argsort(-_shares(evidence), kind="stable")
    even = np.linspace(0, n - 1, _POINTS_MAX - 2 * extremes).astype(np.intp)
    return np.unique(np.concatenate([by_size[even], by_size[:extremes], by_share[:extremes]]))


def _shares(evidence: Evidence) -> NDArray[np.float64]:
    """Return error / bound; 0 where both are 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shares = evidence.error / evidence.bound.astype(np.float64)
    return np.where(evidence.error == 0, 0.0, shares)


def _omitted(evidence: Evidence) -> str:
    equal = int((evidence.error == 0).sum())
    if not equal:
        return ""
    return f"{count_text(equal)} values have no error at all, which this scale cannot show."


def _largest_share(evidence: Evidence) -> str:
    return f"The largest error uses {share_text(float(_shares(evidence).max()))} of its bound."


def _draw(
    prefix: str,
    draw: Callable[[Any, Evidence, NDArray[np.intp]], None],
    evidence: Evidence,
    shown: NDArray[np.intp],
) -> str:
    """Return one figure as SVG, whatever the user's own matplotlib settings are."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(_STYLE)
        figure = Figure(figsize=(4.2, 3.3), layout="constrained")
        figure.patch.set_visible(False)
        axes = figure.add_subplot()
        axes.patch.set_visible(False)
        draw(axes, evidence, shown)
        return _svg(figure, prefix)


def _svg(figure: Figure, prefix: str) -> str:
    buffer = io.BytesIO()
    figure.savefig(buffer, format="svg", metadata=_NO_METADATA)
    text = buffer.getvalue().decode("utf-8")
    text = text[text.index("<svg") :]
    for color, variable in _VARIABLES.items():
        text = text.replace(color, variable)
    # Several plots share the page: their identifiers must differ.
    text = re.sub(r'\b(id="|href="#|url\(#)', rf"\g<1>{prefix}-", text)
    # Hundredths of a point are enough, and last digits may differ between machines.
    return re.sub(r"(\d\.\d\d)\d+", r"\1", text).strip()


def _dots(axes: Any, x: Any, y: Any, color: str, label: str | None = None) -> None:
    axes.plot(x, y, "o", markersize=2.6, color=color, markeredgewidth=0, alpha=0.7, label=label)


def _draw_agreement(axes: Any, evidence: Evidence, shown: NDArray[np.intp]) -> None:
    reference = evidence.reference[shown]
    axes.axline((0.0, 0.0), slope=1, color=_MUTED, linewidth=0.8)
    _dots(axes, reference, evidence.decision[shown].astype(np.float64), _ACCENT)
    axes.set_xlabel("decision value of the float64 model")
    axes.set_ylabel("decision value of the C")


def _draw_errors(axes: Any, evidence: Evidence, shown: NDArray[np.intp]) -> None:
    size = np.abs(evidence.reference[shown])
    bound, error = evidence.bound[shown].astype(np.float64), evidence.error[shown]
    axes.set_xscale("log")
    axes.set_yscale("log")
    for values, color, label in ((bound, _WARM, "bound"), (error, _ACCENT, "error")):
        visible = (size > 0) & (values > 0) & np.isfinite(values)
        _dots(axes, size[visible], values[visible], color, label)
    axes.set(xlim=axes.get_xlim(), ylim=axes.get_ylim())  # the line must not stretch them
    axes.axline((1e-3, 1e-3), (1.0, 1.0), color=_MUTED, linewidth=0.8, linestyle="--")
    axes.set_xlabel("decision value of the float64 model, without sign")
    axes.set_ylabel("error, bound")
    # Above the axes: the values may be anywhere inside.
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2, markerscale=2)


def _draw_shares(axes: Any, evidence: Evidence, shown: NDArray[np.intp]) -> None:
    shares = _shares(evidence)[shown]
    visible = shares[(shares > 0) & np.isfinite(shares)]
    low = np.floor(np.log10(visible.min())) if len(visible) else -4.0
    low = max(min(low, -1.0), -8.0)
    high = max(np.ceil(np.log10(visible.max())), 0.0) + 0.25 if len(visible) else 0.25
    axes.set_xscale("log")
    axes.hist(
        np.maximum(visible, 10.0**low), bins=np.logspace(low, high, 41).tolist(), color=_ACCENT
    )
    axes.axvline(1.0, color=_WARM, linewidth=1.2, linestyle="--")
    axes.set_xlabel("error / bound")
    axes.set_ylabel("values")
