"""Running Frama-C's Eva on one copy of the emitted C, and reading what it says."""

from __future__ import annotations

import csv
import re
import shlex
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from kmcompile.tools import evidence_tools
from kmcompile.tools.toolchain import find, run_tool

COMMAND = evidence_tools.FRAMA_C
PACKAGES = evidence_tools.PACKAGES[COMMAND]

_COVERAGE = re.compile(
    r"(?P<functions>\d+) functions? analyzed \(out of (?P<all_functions>\d+)\).*?"
    r"(?P<statements>\d+) statements reached \(out of (?P<all_statements>\d+)\)",
    re.DOTALL,
)
_PROVED = ("Valid", "Considered valid")
_NO_ALARMS = ("assigns clause", "from clause")
"""What functions without a body change: those of Frama-C's library, and squares and roots."""


@dataclass(frozen=True, slots=True)
class Alarm:
    """A place where Eva does not exclude a run-time error.

    Parameters
    ----------
    function : str
        Without the prefix.
    kind : str
        As Frama-C calls it, such as "mem_access".
    expression : str
        What would have to hold, without the prefix.
    """

    function: str
    kind: str
    expression: str

    def __str__(self) -> str:
        return f"{self.function}: {self.kind}: {self.expression}"


@dataclass(frozen=True, slots=True)
class Analysis:
    """What Eva said of one copy.

    Parameters
    ----------
    alarms : tuple of Alarm
        Each once, however many places in the C it stands for.
    functions, all_functions, statements, all_statements : int
        Analysed functions of all, and reached statements of those in the analysed functions.
    seconds : float
        Processor time.
    of_floats : int
        Alarms about values of floats, which the analysis of any bits leaves to that of numbers.
    assumed : int
        What it takes for true, see assumed.md beside it.
    """

    alarms: tuple[Alarm, ...]
    functions: int
    all_functions: int
    statements: int
    all_statements: int
    seconds: float
    of_floats: int = 0
    assumed: int = 0


@cache
def version() -> str:
    """Return the name and version of the tool.

    Raises
    ------
    ToolError
        If it is not installed.
    """
    path = find(COMMAND, PACKAGES)
    found = run_tool([path, "-version"], Path("/"), 60.0, "asking its version")
    return f"Frama-C {found.strip()}, Eva"


def analyse(script: Path, prefix: str, options: list[str], timeout_s: float) -> Analysis:
    """Write the script that runs Eva on a driver beside it, run it, and read what it says.

    Parameters
    ----------
    script : Path
        Of the shell script, which is written; the driver beside it is driver.c, and the script
        writes alarms.csv and log.txt.
    prefix : str
        Of the emitted names.
    options : list of str
        Of Frama-C, without those for its outputs.
    timeout_s : float
        Seconds of processor time.

    Raises
    ------
    ToolError
        If the tool is not installed, fails, or does not end within the time limit.
    """
    find(COMMAND, PACKAGES)
    folder = script.parent
    words = [COMMAND, *options, "-eva", "-eva-no-print", "driver.c"]
    words += ["-time", "seconds.txt", "-then", "-report-csv", "alarms.csv"]
    command = " ".join(map(shlex.quote, words))
    (folder / "seconds.txt").unlink(missing_ok=True)  # Frama-C adds a line
    script.write_text(f'#!/bin/sh\ncd "$(dirname "$0")" && {command}\n', encoding="utf-8")
    step = f"{COMMAND} on {prefix}.c"
    output = run_tool(["sh", str(script)], folder, timeout_s, step)
    (folder / "log.txt").write_text(output, encoding="utf-8")
    coverage = _COVERAGE.search(output)
    if coverage is None:
        raise ValueError(f"{step}: its summary is not as expected")
    alarms = read_alarms((folder / "alarms.csv").read_text(encoding="utf-8"), prefix)
    seconds = float((folder / "seconds.txt").read_text(encoding="utf-8").split()[-1])
    numbers = {name: int(number) for name, number in coverage.groupdict().items()}
    return Analysis(alarms, seconds=seconds, **numbers)


def read_alarms(text: str, prefix: str) -> tuple[Alarm, ...]:
    """Return the alarms in the report of Frama-C, sorted.

    Parameters
    ----------
    text : str
        Of the table that -report-csv writes.
    prefix : str
        Of the emitted names, which is left out.
    """
    found = set()
    for row in csv.DictReader(text.splitlines(), delimiter="\t"):
        if row["status"] not in _PROVED and row["property kind"] not in _NO_ALARMS:
            function = row["function"].removeprefix(f"{prefix}_")
            expression = re.sub(rf"\b({prefix}|{prefix.upper()})_", "", row["property"])
            found.add(Alarm(function, row["property kind"], expression))
    return tuple(sorted(found, key=str))
