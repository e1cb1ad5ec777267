"""The commands that repeat each part of the verification, run in the output folder."""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from kmcompile.report.summary import Report

_HERE = ("kmcompile", "verify", ".")


@dataclass(frozen=True, slots=True)
class Repeat:
    """A command that repeats a check, and the check."""

    what: str
    command: str


def repeats(report: Report) -> tuple[Repeat, ...]:
    """Return the commands; with the model or test samples if these were files."""
    model, test_data = report["model"]["file"], report["options"].get("test_data")
    found = [
        Repeat("the hashes below, and every answer bit for bit", shlex.join(_HERE)),
    ]
    if model is not None:
        with_model = (*_HERE, "--model", model)
        found.append(
            Repeat("the same, and bounds and labels against the model", shlex.join(with_model))
        )
        if test_data is not None:
            with_data = (*with_model, "--test-data", test_data)
            found.append(Repeat("the same on the test samples", shlex.join(with_data)))
    found.append(
        Repeat("the build alone, with any toolchain", "cmake -S . -B build && cmake --build build")
    )
    if model is not None:
        found.append(Repeat("the C from the model, to the same bytes", report["tool"]["command"]))
        bench = ("kmcompile", "bench", model, "--targets", "all")
        found.append(Repeat("the table of targets, on all of them", shlex.join(bench)))
    return tuple(found)
