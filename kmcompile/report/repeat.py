"""The commands that repeat each part of the verification, run in the output folder."""

from __future__ import annotations

import shlex

from kmcompile.report.summary import Report
from kmcompile.report.told import Fact

_HERE = ("kmcompile", "verify", ".")


def repeats(report: Report) -> tuple[Fact, ...]:
    """Return what is checked, and the command; with the model or samples if these were files."""
    model, test_data = report["model"]["file"], report["options"].get("test_data")
    found = [Fact("the hashes below, and every answer bit for bit", shlex.join(_HERE))]
    if model is not None:
        with_model = (*_HERE, "--model", model)
        found.append(
            Fact("the same, and bounds and labels against the model", shlex.join(with_model))
        )
        if test_data is not None:
            with_data = (*with_model, "--test-data", test_data)
            found.append(Fact("the same on the test samples", shlex.join(with_data)))
    found.append(
        Fact("the build alone, with any toolchain", "cmake -S . -B build && cmake --build build")
    )
    if model is not None:
        found.append(Fact("the C from the model, to the same bytes", report["tool"]["command"]))
        bench = ("kmcompile", "bench", model, "--targets", "all")
        found.append(Fact("the table of targets, on all of them", shlex.join(bench)))
    return tuple(found)
