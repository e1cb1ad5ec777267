"""The plot of f(x) against steps taken: thresholds, proved bounds, or how wide intervals are."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kmcompile.report.drawing import ACCENT, INK, MUTED, WARM, WIDE, Plot
from kmcompile.report.trajectories import Trajectories
from kmcompile.text.figures import count_text

_PLACES = 24.0  # of one stage on the axis: more tests stand closer together
_TICKS = 18
_FAR = 10.0
_UNBOUNDED = 1e30  # an interval wider than this says nothing of f(x)
_LINEAR = 5.0  # bounds beyond this need a logarithmic axis


def trajectory_plot(found: Trajectories, of_regression: bool) -> list[Plot]:
    """Return the plot that fits the program.

    Parameters
    ----------
    found : Trajectories
    of_regression : bool
    """
    axis = _Axis(found)
    n = count_text(len(found.decision))
    legend = ", ".join(f"{chr(65 + i)} {name}" for i, name in enumerate(axis.stages))
    stages = f"Stages: {legend}."
    ends = "A dot is where a query leaves; a ring, where it goes on to the exact sum."
    tolerance = found.tolerance
    if found.n_decisions > 1 or of_regression:
        heading, on = "Width of the interval against steps taken", _draw_widths
        what = (
            "The interval that each test gives the decision value that the answer rests on; one "
            "that says nothing yet lies above the plot"
        )
        if tolerance is not None:
            what += "; below the dashed line it is within the tolerance"
    elif found.has_thresholds:
        heading, on = "f(x) against steps taken, with the thresholds", _draw_estimates
        what = (
            "Estimates of f(x) after each test, coloured by the sign of the exact f(x). A query "
            "leaves where its estimate is outside the thresholds"
        )
    else:
        heading, on = "Bounds on f(x) against steps taken", _draw_bounds
        what = (
            "Of queries with f(x) > 0 the proved lower bound, of the others the upper one: where "
            "it crosses 0, the sign is proved"
        )
    of = f"{n} queries of both signs, from the cheapest to the dearest."
    caption = f"{of} {what}. {ends} {stages}"
    return [Plot("t", heading, caption, partial(_draw, on, found, axis), WIDE)]


class _Axis:
    """The axis of tests: stage after stage, with each stage's tests in order."""

    def __init__(self, found: Trajectories) -> None:
        used = np.unique(found.stage)
        self.stages = [found.stages[stage].replace("_", " ") for stage in used]
        self.starts: list[float] = []
        self.ends: list[float] = []
        self.at = np.zeros(len(found.query))
        by_kernels = bool(found.kernels.any())
        self.named = found.kernels if by_kernels else found.number + 1
        self.label = "full kernel evaluations so far" if by_kernels else "tests of each stage"
        start = 0.0
        for stage in used:
            here = found.stage == stage
            last = int(found.number[here].max())
            self.at[here] = start + _places(found.number[here], last)
            self.starts.append(start)
            self.ends.append(start + float(_places(np.array([last]), last)[0]))
            start = self.ends[-1] + 1.5

    def ticks(self) -> tuple[list[float], list[str]]:
        """Return positions and names of the ticks, far enough apart to be read."""
        distance = (self.ends[-1] + 1.0) / _TICKS
        places: list[float] = []
        names: list[str] = []
        first = np.unique(self.at, return_index=True)
        for place, row in zip(*first, strict=True):
            if not places or place - places[-1] >= distance:
                places.append(float(place))
                names.append(count_text(int(self.named[row])))
        return places, names


def _places(number: NDArray[np.int64], last: int) -> NDArray[np.float64]:
    """Return the positions of tests in their stage: even for a few, ever closer for many."""
    if last <= _PLACES:
        return number.astype(np.float64)
    places: NDArray[np.float64] = _PLACES * np.log1p(number.astype(np.float64)) / np.log1p(last)
    return places


def _queries(found: Trajectories) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Yield each query with its tests."""
    for query in range(len(found.decision)):
        rows = np.flatnonzero(found.query == query)
        if len(rows):
            yield query, rows


def _draw(on: Any, found: Trajectories, axis: _Axis, axes: Any) -> None:
    on(found, axis, axes)
    for n, (start, end) in enumerate(zip(axis.starts, axis.ends, strict=True)):
        if n:
            axes.axvline(start - 0.75, color=MUTED, linewidth=0.6)
        middle, above = (start + end) / 2, axes.get_xaxis_transform()
        axes.text(middle, 1.01, chr(65 + n), transform=above, ha="center", fontsize=8)
    places, names = axis.ticks()
    axes.set_xticks(places, names)
    axes.set_xlim(-0.6, axis.ends[-1] + 0.6)
    axes.set_xlabel(axis.label)
    axes.grid(False, axis="x")


def _draw_estimates(found: Trajectories, axis: _Axis, axes: Any) -> None:
    _draw_lines(found, axis, found.estimate, axes)
    reach = _reach(found)
    label: str | None = "thresholds"
    for start, end in zip(axis.starts, axis.ends, strict=True):
        inside = (axis.at >= start) & (axis.at <= end)
        at, first = np.unique(axis.at[inside], return_index=True)
        for values in (found.low[inside][first], found.high[inside][first]):
            # A threshold that no estimate comes near decides nothing; it may be infinite.
            drawn = np.where(np.abs(values) < _FAR * reach, values, np.nan)
            # A single test has thresholds as wide as its position.
            ends = (np.concatenate([[at[0] - 0.3], at, [at[-1] + 0.3]]), np.pad(drawn, 1, "edge"))
            axes.plot(*ends, color=INK, linewidth=1.3, label=label)
            label = None
    axes.axhline(0.0, color=MUTED, linewidth=0.6)
    axes.set_ylim(-reach, reach)
    axes.set_ylabel("estimate of f(x)")
    _legend(axes)


def _reach(found: Trajectories) -> float:
    """Return the end of the axis: it covers nearly all estimates and their thresholds."""
    thresholds = np.abs(np.concatenate([found.low, found.high]))
    usual = float(np.quantile(np.abs(found.estimate), 0.97))
    near = thresholds[thresholds <= 2.0 * usual]
    return 1.15 * max(usual, float(near.max(initial=0.0)), 1e-6)


def _draw_bounds(found: Trajectories, axis: _Axis, axes: Any) -> None:
    positive = found.decision[found.query] > 0
    values = np.where(positive, found.lower, found.upper)
    _draw_lines(found, axis, values, axes)
    axes.axhline(0.0, color=INK, linewidth=1.2)
    if np.abs(values).max() > _LINEAR:
        axes.set_yscale("symlog", linthresh=1.0, linscale=1.0)
    axes.set_ylabel("bound that has to cross 0")
    _legend(axes)


def _draw_widths(found: Trajectories, axis: _Axis, axes: Any) -> None:
    width = np.maximum(found.upper - found.lower, 1e-12)
    for query, rows in _queries(found):
        early = bool(found.early[query])
        _line(axes, axis.at[rows], width[rows], ACCENT if early else WARM, early)
    axes.plot([], [], color=ACCENT, label="early exit")
    axes.plot([], [], color=WARM, label="exact sum")
    axes.set_yscale("log")
    bounded = width[width < _UNBOUNDED]
    if 0 < len(bounded) < len(width):
        axes.set_ylim(top=10.0 * bounded.max())
    if found.tolerance is not None:
        axes.axhline(found.tolerance, color=INK, linewidth=1.2, linestyle="--", label="tolerance")
    axes.set_ylabel("width of the interval")
    _legend(axes)


def _draw_lines(found: Trajectories, axis: _Axis, values: Any, axes: Any) -> None:
    """Draw one line for each query, coloured by the sign of its exact decision value."""
    for query, rows in _queries(found):
        color = ACCENT if found.decision[query] > 0 else WARM
        _line(axes, axis.at[rows], values[rows], color, bool(found.early[query]))
    axes.plot([], [], color=ACCENT, label="f(x) > 0")
    axes.plot([], [], color=WARM, label="f(x) < 0")


def _legend(axes: Any) -> None:
    """Draw the legend above the letters of the stages."""
    axes.legend(loc="lower right", bbox_to_anchor=(1.0, 1.06), ncols=3)


def _line(axes: Any, at: Any, values: Any, color: str, early: bool) -> None:
    """Draw the tests of a query, with a mark at its end."""
    axes.plot(at, values, color=color, linewidth=0.9, alpha=0.6)
    face = color if early else "none"
    axes.plot(at[-1:], values[-1:], "o", markersize=4, color=color, markerfacecolor=face)
