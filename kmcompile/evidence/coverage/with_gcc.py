"""Coverage of lines and branches where there is no clang 19: gcc does not measure MC/DC here."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from kmcompile.evidence.coverage.measured import PACKAGES
from kmcompile.evidence.finding import Finding, Outcome
from kmcompile.evidence.vectors.vectors import Vectors
from kmcompile.tools.toolchain import install_command, run_process, run_tool

_FLAGS = ("-O0", "--coverage", "-DVECTORS_ALL")
_LINES = re.compile(r"Lines executed:([\d.]+)% of (\d+)")
_TAKEN = re.compile(r"Taken at least once:([\d.]+)% of (\d+)")
_TIMEOUT_S = 600.0


def measure_with_gcc(vectors: Vectors, folder: Path) -> Sequence[Finding]:
    """Return the shares of lines and branches that gcov tells, as findings that stay open."""
    began = sum(os.times()[:4])
    name = vectors.subject.program.name
    vectors.write(folder)
    expected = vectors.record(folder, "gcc")
    build = vectors.command("gcc", _FLAGS, "covered")
    run_tool(build, folder, _TIMEOUT_S, f"building {name} with coverage")
    run_process(["./covered", "queries.bin", expected], folder, _TIMEOUT_S, f"covering {name}")
    report = ["gcov", "-b", "covered-vectors.gcda"]
    text = run_tool(report, folder, _TIMEOUT_S, f"reading the coverage of {name}")
    own = next((part for part in text.split("File ") if part.startswith(f"'{name}.c'")), "")
    note = f"MC/DC was not measured: {install_command(PACKAGES)}"
    findings = []
    for claim, pattern in (
        ("every-line-is-executed", _LINES),
        ("every-branch-is-taken-both-ways", _TAKEN),
    ):
        found = pattern.search(own)
        share, number = found.groups() if found else ("0", "0")
        findings.append(
            Finding(
                claim=claim,
                subject=vectors.subject.name,
                outcome=Outcome.SHOWN if float(share) == 100.0 else Outcome.OPEN,
                figure=f"{share} % of {number}",
                command=f"cd {folder.parent.name}/{folder.name} && {' '.join(build)} && "
                f"./covered queries.bin {expected}; {' '.join(report)}",
                tool="gcc and gcov",
                listed=() if float(share) == 100.0 else (note,),
                seconds=sum(os.times()[:4]) - began,
            )
        )
    return findings
