"""What the report has on an option for flight: a section of report.json, and what is told of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kmcompile.report.compilation import Compilation
from kmcompile.report.missing import Content
from kmcompile.report.summary import Report
from kmcompile.report.told import Told


@dataclass(frozen=True, slots=True)
class FlightSection:
    """The section on an option.

    Parameters
    ----------
    name : str
        Of the field of report.json, which is null where the option is not asked for.
    absent : str
        The reason for that null.
    made : callable
        Returns the section, whose fields `schema.json` describes, or None where the option is not
        asked for.
    told : callable, optional
        Returns what is told of the content, as report.json has it.
    """

    name: str
    absent: str
    made: Callable[[Compilation], Content | None]
    told: Callable[[Report], Told] | None = None
