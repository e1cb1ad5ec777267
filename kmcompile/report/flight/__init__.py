"""The sections of the report on the options for flight, a file each."""

from __future__ import annotations

from kmcompile.report.compilation import Compilation
from kmcompile.report.flight import image, monitor, redundancy, stepping, telemetry
from kmcompile.report.missing import Content, Missing
from kmcompile.report.summary import Report
from kmcompile.report.told import Told

SECTIONS = (
    telemetry.SECTION,
    redundancy.SECTION,
    stepping.SECTION,
    image.SECTION,
    monitor.SECTION,
)
"""In the order of report.json."""


def flight_sections(made: Compilation) -> dict[str, Content | Missing]:
    """Return the section on each option, or that it is not asked for."""
    return {one.name: one.made(made) or Missing(one.absent) for one in SECTIONS}


def told_of(report: Report) -> list[Told]:
    """Return what is told of each option that is asked for."""
    return [
        one.told(report[one.name])
        for one in SECTIONS
        if one.told is not None and report[one.name] is not None
    ]
