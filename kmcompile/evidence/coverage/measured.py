"""Measuring the coverage of one compiled model by its vectors, with clang or with gcc."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from kmcompile.evidence.coverage import count
from kmcompile.evidence.coverage.count import Outcome, Place, merged, outcomes
from kmcompile.evidence.vectors.vectors import Vectors
from kmcompile.tools.evidence_tools import CLANG, COV, PROFDATA
from kmcompile.tools.toolchain import run_process, run_tool

_FLAGS = ("-fprofile-instr-generate", "-fcoverage-mapping", "-fcoverage-mcdc", "-DVECTORS_ALL")
_PROGRAM, _RAW, _PROFILE = "covered", "covered.profraw", "covered.profdata"
_COUNT = Path(count.__file__)
_TIMEOUT_S = 600.0
SCRIPT = "measure.sh"


def has_clang() -> bool:
    """Return whether clang 19 and its tools are here."""
    return all(shutil.which(one) is not None for one in (CLANG, PROFDATA, COV))


@dataclass(frozen=True, slots=True)
class Measured:
    """The coverage of a C file over all of its builds.

    Attributes
    ----------
    found : dict
        Each line, outcome of a branch and condition, by its place.
    said : tuple of str
        What the run of each build said: the number of words, and how many differ.
    agrees : bool
        Whether none differs in any build.
    tool : str
    programs : tuple of str
        The commands that were used.
    """

    found: dict[Place, Outcome]
    said: tuple[str, ...]
    agrees: bool
    tool: str
    programs: tuple[str, ...]


def measure(vectors: Vectors, folder: Path) -> Measured:
    """Build the vectors of each build with coverage, run them, and read what was covered.

    The folder is filled with what repeats the run, `measure.sh` among it.
    """
    name = vectors.subject.program.name
    source = vectors.subject.files[f"{name}.c"].decode("ascii")
    vectors.write(folder)
    runs, said, codes = [], [], []
    script = ["#!/bin/sh", "# Repeats the measurement in this folder.", "set -e"]
    for build, defines in vectors.builds():
        expected = vectors.record(folder, CLANG, build, defines)
        steps = _steps(vectors, name, expected, defines)
        run_tool(steps[0], folder, _TIMEOUT_S, f"building {name} with coverage")
        code, text = run_process(steps[1], folder, _TIMEOUT_S, f"covering {name}")
        said.append(text.strip())
        codes.append(code)
        run_tool(steps[2], folder, _TIMEOUT_S, f"merging the profile of {name}")
        json = run_tool(steps[3], folder, _TIMEOUT_S, f"exporting the coverage of {name}")
        lcov = run_tool(steps[4], folder, _TIMEOUT_S, f"exporting the lines of {name}")
        runs.append(outcomes(json, lcov, source, name))
        written = ("", "", "", f" > {_PROGRAM}{build}.export.json", f" > {_PROGRAM}{build}.lcov")
        script += [" ".join(step) + to for step, to in zip(steps, written, strict=True)]
    script.append(f"python3 ../{_COUNT.name} {name}")
    shutil.copyfile(_COUNT, folder.parent / _COUNT.name)
    (folder / SCRIPT).write_text("\n".join(script) + "\n", encoding="ascii")
    (folder / SCRIPT).chmod(0o755)
    for left in (_PROGRAM, _RAW, _PROFILE):
        (folder / left).unlink(missing_ok=True)
    programs = (CLANG, PROFDATA, COV)
    return Measured(
        merged(runs), tuple(said), not any(codes), "clang 19, -fcoverage-mcdc", programs
    )


def _steps(
    vectors: Vectors, name: str, expected: str, defines: Sequence[str]
) -> tuple[list[str], ...]:
    """Return the commands of one build: compile, run, merge, and export branches and lines."""
    export = [COV, "export", f"./{_PROGRAM}", f"-instr-profile={_PROFILE}", "-sources", f"{name}.c"]
    return (
        vectors.command(CLANG, [*_FLAGS, *defines], _PROGRAM),
        ["env", f"LLVM_PROFILE_FILE={_RAW}", f"./{_PROGRAM}", "queries.bin", expected],
        [PROFDATA, "merge", _RAW, "-o", _PROFILE],
        export,
        [*export, "-format=lcov"],
    )
