"""The field `time` of report.json's section on the target, and its text."""

from __future__ import annotations

from dataclasses import dataclass

from kmcompile.program.interpreter import Answers
from kmcompile.program.program import Program
from kmcompile.report import costs
from kmcompile.report.missing import Content, Missing, known
from kmcompile.report.summary import Report, reason
from kmcompile.report.told import Fact
from kmcompile.target import Target
from kmcompile.text.figures import milliseconds_text, small_text
from kmcompile.verify.findings import Findings

MODELLED = "modelled"
"""Cycles come from the manual of the core, for the instructions that its emulator executed."""


def time_of(
    program: Program, target: Target, findings: Findings, answers: Answers, sample: costs.Sample
) -> Content | Missing:
    """Return the clock cycles and seconds of a query, of the queries of the instructions.

    They are for memory that never waits. No input exceeds the static worst case.
    """
    timing, found = target.time, findings.cycles
    if timing is None or timing.clock_hz is None:
        return Missing((timing and timing.unknown) or f"the cycles of {target.name} are not known")
    if found is None:
        return Missing(findings.no_cycles or "the target was not run")
    if len(program.exit_stages) > 1:
        found = costs.of_sample(found, answers, sample)
    (least, mean), largest = found.mean(axis=0), int(found[:, 1].max())
    worst = findings.worst_case and findings.worst_case.cycles
    unbounded = (findings.worst_case and findings.worst_case.no_cycles) or "the target was not run"
    return dict(
        what=MODELLED,
        core=timing.core,
        clock_hz=timing.clock_hz,
        flash_wait_states=known(
            timing.flash_wait_states, "how long the flash waits at this clock is not known"
        ),
        least_mean_cycles=float(least),
        mean_cycles=float(mean),
        max_cycles=largest,
        worst_cycles=known(worst, unbounded),
        least_mean_seconds=float(least) / timing.clock_hz,
        mean_seconds=float(mean) / timing.clock_hz,
        max_seconds=largest / timing.clock_hz,
        worst_seconds=known(worst and worst / timing.clock_hz, unbounded),
        queries=len(found),
    )


@dataclass(frozen=True, slots=True)
class Pace:
    """How long an instruction of the built program takes, as its cycles are modelled.

    Attributes
    ----------
    mean : float
        Seconds, over the instructions of the queries.
    worst : float or None
        The same of the static worst case.
    """

    mean: float
    worst: float | None


def pace_of(report: Report) -> Pace | None:
    """Return the pace of the built program; None where no cycles are known or none were counted."""
    time, counted = report["target"]["time"], report["target"]["instructions"]
    if time is None or counted is None or not counted["mean"]:
        return None
    bounded = time["worst_seconds"] is not None and counted["worst"]
    worst = time["worst_seconds"] / counted["worst"] if bounded else None
    return Pace(time["mean_seconds"] / counted["mean"], worst)


def time_facts(report: Report) -> list[Fact]:
    """Return the line on the time of a query; what it is stands with it."""
    time = report["target"]["time"]
    if time is None:
        return [Fact("time", reason(report, "target.time"), missing=True)]
    least = small_text(1e3 * time["least_mean_seconds"])
    mean = milliseconds_text(time["mean_seconds"])
    parts = [f"mean {mean}" if f"{least} ms" == mean else f"mean {least} to {mean}"]
    parts.append(f"largest {milliseconds_text(time['max_seconds'])}")
    if time["worst_seconds"] is not None:
        parts.append(f"static worst case {milliseconds_text(time['worst_seconds'])}")
    if time["flash_wait_states"] != 0:
        waits = time["flash_wait_states"]
        parts.append(f"without {f'the {waits} ' if waits else ''}waits of the flash")
    clock = small_text(time["clock_hz"] / 1e6)
    return [Fact(f"time at {clock} MHz, {time['what']}", ", ".join(parts))]
