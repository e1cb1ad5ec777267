"""The field `measured` of report.json's section on the target: what a board said, and its text."""

from __future__ import annotations

import hashlib

from kmcompile.report.bench_text import BenchLine
from kmcompile.report.missing import Content, known
from kmcompile.report.summary import Report, reason
from kmcompile.report.told import Fact, Text
from kmcompile.text.figures import count_text, small_text

NOT_MEASURED = (
    "no board was measured: --package bench writes a function that does, and "
    "kmcompile report DIR --measured FILE reads what it prints"
)
ABOUT = Text(
    "Measured is what the function of --package bench printed on a board that kmcompile has not "
    "seen: its call, caches, waits of the flash and interrupts are in it."
)

_NAMES = ("min", "median", "max")
_NO_CLOCK = "the board did not say at which clock it runs: define <NAME>_BENCH_HZ there"
_NO_CYCLES = "the board's counter does not count the clock of its processor"


def measured_of(line: BenchLine, file_name: str, content: bytes) -> Content:
    """Return what a board said, of the text in a file."""
    counts = dict(zip(_NAMES, (line.least, line.median, line.most), strict=True))
    cycles, hz = line.unit == "cycles", line.hz
    return dict(
        counter=line.counter,
        clock_hz=known((hz or None) if cycles else None, _NO_CLOCK if cycles else _NO_CYCLES),
        **{
            f"{name}_cycles": known(count if cycles else None, _NO_CYCLES)
            for name, count in counts.items()
        },
        **{
            f"{name}_seconds": known(count / hz if hz else None, _NO_CLOCK)
            for name, count in counts.items()
        },
        queries=line.queries,
        file=file_name,
        sha256=hashlib.sha256(content).hexdigest(),
    )


def measured_facts(report: Report) -> list[Fact]:
    """Return what was measured on a board, or that nothing was."""
    measured = report["target"]["measured"]
    if measured is None:
        return [Fact("measured on a board", reason(report, "target.measured"), missing=True)]
    clock = measured["clock_hz"]
    at = f" at {small_text(clock / 1e6)} MHz" if clock else ""
    by = f" ({count_text(measured['queries'])} queries, {measured['counter']})"
    facts = []
    if measured["min_cycles"] is not None:
        least, median, most = (count_text(measured[f"{one}_cycles"]) for one in _NAMES)
        told = f"least {least}, median {median}, largest {most}{by}"
        facts.append(Fact("cycles, measured on a board", told))
    if measured["min_seconds"] is not None:
        least, median, most = (small_text(1e3 * measured[f"{one}_seconds"]) for one in _NAMES)
        told = f"least {least} ms, median {median} ms, largest {most} ms"
        facts.append(Fact(f"time{at}, measured on a board", told + by * (not facts)))
    return facts
