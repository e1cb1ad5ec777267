"""The plots of the cost of queries, in operations and instructions, beside the exact sum's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.report.cascade import Cascade
from kmcompile.report.drawing import ACCENT, INK, MUTED, WARM, Plot
from kmcompile.report.summary import Report
from kmcompile.report.time_section import pace_of
from kmcompile.text.figures import count_text, milliseconds_text, share_text, small_text

_QUANTILES = 200
_BINS = 24


@dataclass(frozen=True, slots=True)
class _Mark:
    """A line across the distribution."""

    label: str
    value: float
    style: str
    color: str


def cost_plots(report: Report, cascade: Cascade) -> list[Plot]:
    """Return the plots of the operations, and of the instructions if they were counted."""
    operations, instructions = cascade.operations, cascade.instructions
    cost, counted = report["cost"], report["target"]["instructions"]
    marks = _marks(cost["exact_ops"], cost["mean_ops"], cost["p99_ops"], cost["max_ops"])
    marks += _mark("the most of any input", cost["worst_ops"], "-", INK)
    plots = [_plot("g", "Operations of a query", operations, cost["exact_ops"], marks)]
    if instructions is None or counted is None:
        return plots
    marks = _marks(counted["exact"], counted["mean"], counted["p99"], counted["max"])
    marks += _mark("static worst case", counted.get("worst"), "-", INK)
    heading = "Instructions of a query, counted on the emulator"
    plot = _plot("i", heading, instructions, counted["exact"], marks)
    return [*plots, replace(plot, caption=plot.caption + _in_time(report))]


def _in_time(report: Report) -> str:
    """Return how long instructions take, where their cycles are modelled."""
    pace = pace_of(report)
    if pace is None:
        return ""
    clock = small_text(report["target"]["time"]["clock_hz"] / 1e6)
    thousand = milliseconds_text(1e3 * pace.mean)
    return f" 1,000 of them take {thousand} in the mean at {clock} MHz, as modelled."


def _marks(
    exact: float | None, mean: float | None, p99: float | None, largest: float | None
) -> list[_Mark]:
    return [
        *_mark("exact sum alone", exact, "--", WARM),
        *_mark("mean", mean, "-", ACCENT),
        *_mark("99th percentile", p99, ":", ACCENT),
        *_mark("largest", largest, "-.", MUTED),
    ]


def _mark(label: str, value: float | None, style: str, color: str) -> list[_Mark]:
    """Return a line, none for a value that is not available."""
    return [] if value is None else [_Mark(label, value, style, color)]


def _plot(
    prefix: str, heading: str, values: NDArray[Any], exact: float | None, marks: Sequence[_Mark]
) -> Plot:
    dearer = ""
    if exact is not None:
        share = share_text(float((values > exact).mean()))
        dearer = f" {share} of the queries cost more than the exact sum alone."
    caption = f"Bars: share of the queries. Line: share that costs at most so much.{dearer}"
    return Plot(prefix, heading, caption, partial(_draw, values, marks), (4.2, 3.9))


def _draw(values: NDArray[Any], marks: Sequence[_Mark], axes: Any) -> None:
    from kmcompile.report.svg import counts_along

    low = 0.8 * float(min(values.min(), *(mark.value for mark in marks)))
    high = 1.25 * float(max(values.max(), *(mark.value for mark in marks)))
    axes.set_xscale("log")
    bins = np.geomspace(max(low, 1.0), high, _BINS + 1)
    weights = np.full(len(values), 100.0 / len(values))
    axes.hist(values, bins=bins.tolist(), weights=weights, color=ACCENT, alpha=0.3)
    shares = np.linspace(0.0, 1.0, _QUANTILES)
    axes.step(np.quantile(values, shares, method="inverted_cdf"), 100 * shares, color=ACCENT)
    for mark in marks:
        label = f"{mark.label}  {count_text(mark.value)}"
        axes.axvline(mark.value, color=mark.color, linestyle=mark.style, linewidth=1.2, label=label)
    axes.set(ylim=(0, 104), ylabel="% of the queries", xlim=(max(low, 1.0), high))
    axes.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=1)
    axes.grid(False, axis="x")
    counts_along(axes.xaxis, (1.0,) if high > 50 * low else (1.0, 2.0, 5.0))
