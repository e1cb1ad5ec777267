"""The programs that were compared: their part of report.json, and the table and plot of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any

from kmcompile.choice.front import Compared, front
from kmcompile.report.drawing import ACCENT, INK, WIDE, Plot, legend_above
from kmcompile.report.missing import Content
from kmcompile.report.summary import Report
from kmcompile.report.time_section import Pace, pace_of
from kmcompile.report.told import Figures, Part, Rows, Text
from kmcompile.text.figures import bytes_text, count_text, share_text, small_text

_HEADS = ("Program", "Mean", "Worst case", "Flash", "Proved", "Options")

CAPTION = (
    "Estimated instructions of a query and bytes of flash, by which programs are compared. Proved: "
    "the share of inputs whose label is proved; where there is none, a promise is made about all "
    "labels. Options: those that ask for the program."
)

_TIMES = (
    "Milliseconds: these instructions, if each takes as long as one of the built program, whose "
    "cycles are modelled; another program has other instructions."
)

_FEWEST = 2
_SMALLEST, _LARGEST = 40.0, 400.0
"""Areas of the dots of the least and the largest mean, in square points."""


def choices_of(compared: Iterable[Compared]) -> list[Content]:
    """Return the front of the programs that were compared, fastest first.

    Estimates are what was known before control samples were asked.
    """
    return [
        dict(
            program=one.what,
            options=" ".join(one.options),
            mean_estimated=one.takes.mean,
            worst_estimated=one.takes.worst,
            flash_estimated=one.takes.flash_bytes,
            proved_share=one.proved_share or 0.0,
            chosen=one.chosen,
        )
        for one in front(compared)
    ]


def choice_rows(choices: Sequence[Report], pace: Pace | None = None) -> Rows:
    """Return the table of choices; with the pace of the built program also estimated times."""
    mean_s, worst_s = (None, None) if pace is None else (pace.mean, pace.worst)
    rows = [
        (
            one["program"],
            count_text(round(one["mean_estimated"])),
            *_in_time(one["mean_estimated"], mean_s),
            count_text(round(one["worst_estimated"])),
            *_in_time(one["worst_estimated"], worst_s),
            bytes_text(round(one["flash_estimated"])),
            share_text(one["proved_share"]) if one["proved_share"] else "-",
            "taken" if one["chosen"] else one["options"],
        )
        for one in choices
    ]
    program, mean, worst, *rest = _HEADS
    of_mean, of_worst = ([] if one is None else ["ms"] for one in (mean_s, worst_s))
    return Rows((program, mean, *of_mean, worst, *of_worst, *rest), rows)


def _in_time(instructions: float, seconds: float | None) -> list[str]:
    """Return instructions in milliseconds, where it is known how long each takes."""
    return [] if seconds is None else [small_text(1e3 * seconds * instructions)]


def choices_parts(report: Report) -> list[Part]:
    """Return what is told of the choices; nothing of a single program."""
    choices = report["choices"]
    if len(choices) < _FEWEST:
        return []
    pace = pace_of(report)
    caption = CAPTION if pace is None else f"{CAPTION} {_TIMES}"
    plots = Figures(choices_plot(choices), "one")
    return [choice_rows(choices, pace), Text(caption), plots]


def choices_plot(choices: Sequence[Report]) -> list[Plot]:
    """Return the plot of the choices."""
    return [
        Plot(
            "p",
            "Flash against worst case",
            "A dot for each program that was compared and that no other one beats; the larger the "
            "dot, the more instructions a query takes in the mean.",
            partial(_draw, choices),
            WIDE,
        )
    ]


def _draw(choices: Sequence[Report], axes: Any) -> None:
    most = max(one["mean_estimated"] for one in choices)
    for one in choices:
        area = max(_SMALLEST, _LARGEST * one["mean_estimated"] / most)
        place = [one["flash_estimated"]], [one["worst_estimated"]]
        label = f"taken: {one['program']}" if one["chosen"] else None
        color = INK if one["chosen"] else ACCENT
        axes.scatter(*place, s=area, color=color, alpha=0.6, label=label)
    axes.set_xscale("log")
    axes.set_yscale("log")
    axes.set_xlabel("bytes of flash")
    axes.set_ylabel("instructions, worst case")
    legend_above(axes)
