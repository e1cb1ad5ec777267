"""`make evidence`: what tools of others find about the C of the catalogue and of real models.

Usage: PYTHONPATH=tests python -m evidence.gather FOLDER [--share S] [--parts A,B,...]

With `--share 0.1` each part looks at a tenth of its subjects, cases and queries.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
import tempfile
import time
import traceback
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from evidence.catalogue import SUMS, TOOL_PARTS, ToolPart
from evidence.sources import TRAINED, Sources
from evidence.subjects import option_models, real_models, small_models
from evidence.supply_chain import CHECKOUT
from evidence.traceability import kept_promises
from kmcompile.errors import ToolError
from kmcompile.evidence.coverage import covering
from kmcompile.evidence.finding import Finding, Outcome
from kmcompile.evidence.folder import PAGE, write_summary
from kmcompile.evidence.gathering import CATALOGUE, check_replaceable, replace_folder
from kmcompile.evidence.mutation import mutating
from kmcompile.evidence.part import Part
from kmcompile.evidence.subject import Subject
from kmcompile.tools.toolchain import run_tool

_COMMAND = "make evidence"
_OF_OPTIONS = ("description", "supply_chain")
"""The parts that look at models with the other options: the C of these is in the small models."""

_ASKING = (covering.PART, mutating.PART)
"""The parts that need the vectors of a subject (queries.npz)."""


def main() -> None:
    """Run the parts and write the folder; exit 1 if a claim is refuted."""
    parser = argparse.ArgumentParser(description="Gather evidence.")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--share", type=float, default=1.0)
    parser.add_argument("--parts", help="A,B,... [all]")
    asked = parser.parse_args()
    check_replaceable(asked.folder)
    names = asked.parts.split(",") if asked.parts else None
    asked.folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=asked.folder.parent) as made:
        fresh = Path(made).resolve() / asked.folder.name  # tools run in folders of their own
        fresh.mkdir()
        findings = run(fresh, asked.share, names)
        write_summary(fresh, findings, commit())
        replace_folder(asked.folder, fresh)
    sys.stdout.write((asked.folder / PAGE).read_text(encoding="utf-8"))
    sys.exit(any(one.outcome is Outcome.REFUTED for one in findings))


def run(folder: Path, share: float, names: list[str] | None) -> list[Finding]:
    """Run the parts with these names, or all, and return what they found."""
    findings: list[Finding] = []
    parts = [part for part in CATALOGUE if names is None or part.name in names]
    described = [part for part in parts if part.name in _OF_OPTIONS]
    asks = any(part in _ASKING for part in parts)
    trained = folder / TRAINED
    subjects = itertools.chain(
        ((subject, described) for subject in (option_models(trained) if described else ())),
        ((subject, parts) for subject in (real_models(trained) if parts else ())),
        ((subject, parts) for subject in (small_models(share, asks) if parts else ())),
    )

    def of_tool(those: Sequence[ToolPart]) -> list[ToolPart]:
        return [part for part in those if names is None or part.name in names]

    # Most of the work is in processes of the tools.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(run_tool_part, part, folder, share) for part in of_tool(TOOL_PARTS)]
        jobs += [
            pool.submit(run_part, part, subject, folder, share)
            for subject, own in subjects
            for part in own
        ]
        for job in jobs:
            findings += job.result()
    for part in of_tool(SUMS):
        findings += run_tool_part(part, folder, share)
    if names is None:
        sources = Sources.of_folder(folder, findings)
        findings += kept_promises(folder / "traceability", sources)
    return findings


def run_part(part: Part, subject: Subject, folder: Path, share: float) -> Sequence[Finding]:
    """Return what a part finds about a subject; a tool that fails or hangs leaves it open."""
    tell(f"{part.name}: {subject.name}")
    try:
        if part is mutating.PART:
            return mutating.run(subject, folder / part.name, share)
        return part.run(subject, folder / part.name)
    except ToolError as error:
        text = str(error).splitlines()[0]
        return [Finding(part.name, subject.name, Outcome.OPEN, text, _COMMAND, part.name)]


def run_tool_part(part: ToolPart, folder: Path, share: float) -> Sequence[Finding]:
    """Return what a part finds about kmcompile; one that ends with an error is told as such.

    What the others have found in an hour is not lost by it.
    """
    tell(f"{part.name}: {part.title}")
    own = folder / part.name
    own.mkdir(exist_ok=True)
    try:
        return part.run(own, share)
    except Exception as error:
        traceback.print_exc()
        text = f"{type(error).__name__}: {error}".splitlines()[0]
        found = f"the part ended with an error: {text}"
        return [
            Finding(f"{part.name}-ran", "kmcompile", Outcome.REFUTED, found, _COMMAND, "Python")
        ]


def commit() -> str | None:
    """Return the commit of the checkout, with a word if files differ from it; None without git."""
    try:
        found = run_tool(["git", "rev-parse", "HEAD"], CHECKOUT, 60.0, "asking git").strip()
        changed = run_tool(["git", "status", "--porcelain"], CHECKOUT, 60.0, "asking git").strip()
    except ToolError:
        return None
    return f"{found} with changes" if changed else found


def tell(text: str) -> None:
    """Print what is run, with the time, on stderr."""
    sys.stderr.write(f"{time.strftime('%H:%M:%S')} {text}\n")


if __name__ == "__main__":
    main()
