"""The plot of a reduction: vectors against disagreements, with their limits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from kmcompile.report.drawing import ACCENT, INK, WARM, WIDE, Plot, legend_above
from kmcompile.report.summary import Report
from kmcompile.text.figures import confidence_text, count_text

_FEWEST = 2


def reduction_plot(report: Report) -> list[Plot]:
    """Return the plot; none without two machines whose disagreements were counted."""
    section = report["reduction"]
    if section is None:
        return []
    points = [point for point in section["points"] if point["limit"] is not None]
    if len(points) < _FEWEST:
        return []
    confidence = confidence_text(section["confidence"])
    of_loss = section["of"] == "loss"
    asked = f" The dashed line is the {section['of']} that was asked for."
    if section["risk"] is None:
        asked = ""
    what = "share of the samples that the trained machine answers otherwise"
    if of_loss:
        what = "share of right labels that are lost, less those that are gained"
    return [
        Plot(
            "v",
            f"Vectors against {'lost labels' if of_loss else 'disagreements'}",
            f"Dots: {what}. Upper ends: "
            f"what {'it' if of_loss else 'the probability'} is at most, at {confidence} "
            f"confidence.{asked}",
            partial(_draw, points, section["risk"]),
            WIDE,
        )
    ]


def _draw(points: Sequence[Report], risk: float | None, axes: Any) -> None:
    from kmcompile.report.svg import counts_along

    vectors = [point["n_vectors"] for point in points]
    shares = [
        100 * (point["disagreements"] - point["gained"]) / max(point["samples"], 1)
        for point in points
    ]
    limits = [100 * point["limit"] for point in points]
    axes.set_xscale("log")
    axes.vlines(vectors, shares, limits, color=ACCENT, linewidth=1.0)
    axes.plot(vectors, limits, "_", color=ACCENT, markersize=9, label="limit")
    axes.plot(vectors, shares, "o", color=ACCENT, markersize=4, label="disagreements")
    for point, x, y in zip(points, vectors, shares, strict=True):
        if point["chosen"]:
            label = f"taken: {count_text(x)}"
            axes.plot(
                [x], [y], "o", markersize=11, color=INK, fillstyle="none", linestyle="", label=label
            )
    if risk is not None:
        axes.axhline(100 * risk, color=WARM, linewidth=1.2, linestyle="--")
    axes.set_ylim(bottom=min(0, *shares))
    axes.set_xlabel("vectors")
    axes.set_ylabel("% of the samples")
    counts_along(axes.xaxis, (1.0, 2.0, 5.0))
    legend_above(axes)
