"""Coverage of lines and branches where there is no clang 19: gcc does not measure MC/DC here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from kmcompile.evidence.coverage.count import Outcome, Place, Source
from kmcompile.evidence.coverage.measured import SCRIPT, Measured
from kmcompile.evidence.vectors.vectors import Vectors
from kmcompile.tools.toolchain import run_process, run_tool

_FLAGS = ("-O0", "--coverage", "-DVECTORS_ALL")
_REPORT = ("gcov", "-b", "-j", "-t", "covered-vectors.gcda")
_CONDITION = re.compile(r"(?:} else )?(?:if|while) \((.*)\) {|for \([^;]*; (.*); [^;]*\) {")
_SEVERAL = re.compile(r"&&|\|\||\?")
_TIMEOUT_S = 600.0


def measure_with_gcc(vectors: Vectors, folder: Path) -> Measured:
    """Return the lines and branches that gcov tells; the folder is filled with what repeats it."""
    name = vectors.subject.program.name
    source = vectors.subject.files[f"{name}.c"].decode("ascii")
    vectors.write(folder)
    expected = vectors.record(folder, "gcc")
    build = vectors.command("gcc", _FLAGS, "covered")
    run = ["./covered", "queries.bin", expected]
    run_tool(build, folder, _TIMEOUT_S, f"building {name} with coverage")
    code, said = run_process(run, folder, _TIMEOUT_S, f"covering {name}")
    text = run_tool(_REPORT, folder, _TIMEOUT_S, f"reading the coverage of {name}")
    script = ["#!/bin/sh", "# Repeats the measurement in this folder.", "set -e"]
    script += [" ".join(step) for step in (build, run, ("gcov", "-b", _REPORT[-1]))]
    (folder / SCRIPT).write_text("\n".join(script) + "\n", encoding="ascii")
    found = outcomes_of_gcov(text, source, name)
    return Measured(found, (said.strip(),), code == 0, "gcc and gcov", ("gcc", "gcov"))


def outcomes_of_gcov(text: str, source: str, prefix: str) -> dict[Place, Outcome]:
    """Return what `gcov --json-format` says of the lines and branches of one C file.

    gcov does not say which branch of a condition is which. Where a line has one condition, and one
    of its branches is never taken, the first line of the body tells: it is executed or it is not.

    Parameters
    ----------
    text : str
        The JSON.
    source : str
        The C file.
    prefix : str
        The model's prefix, which the file is called after.
    """
    files = [file for part in text.splitlines() if part for file in json.loads(part)["files"]]
    lines = [line for file in files if file["file"] == f"{prefix}.c" for line in file["lines"]]
    own = Source(source, prefix)
    found: dict[Place, Outcome] = {}
    for one in lines:
        number = one["line_number"]
        found["line", number, 0, 0] = own.outcome(
            "line", number, own.line(number), "", one["count"] > 0
        )
    for one in lines:
        number = one["line_number"]
        body = min((place[1] for place in found if place[1] > number), default=0)
        is_true = body > 0 and found["line", body, 0, 0].covered
        for n, (condition, value, covered) in enumerate(_branches(one, own, is_true)):
            found["branch", number, 0, n] = own.outcome("branch", number, condition, value, covered)
    return found


def _branches(line: dict[str, Any], own: Source, is_true: bool) -> Iterator[tuple[str, str, bool]]:
    """Yield the condition, the value and whether it is taken, of each branch of a line."""
    taken = [one["count"] > 0 for one in line["branches"]]
    text = own.line(line["line_number"])
    one = _CONDITION.fullmatch(text)
    if one is None or len(taken) != 2 or _SEVERAL.search(text):
        yield from ((f"branch {n} of {text}", "", is_taken) for n, is_taken in enumerate(taken, 1))
        return
    condition = one[1] or one[2]
    yield condition, "true", all(taken) or (any(taken) and is_true)
    yield condition, "false", all(taken) or (any(taken) and not is_true)
