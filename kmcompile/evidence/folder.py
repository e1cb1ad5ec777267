"""The folder of the evidence: one folder a part, all findings as JSON, and a page that sums up."""

from __future__ import annotations

import json
import platform
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from kmcompile.evidence.finding import WORST_FIRST, Finding, Outcome
from kmcompile.tools.toolchain import version_of
from kmcompile.version import VERSION

JSON = "evidence.json"
PAGE = "evidence.md"
SUMS = "SHA256SUMS"
"""The digests of all other files."""

_LEGEND = """\
Shown: the tool ran, and what it looked at holds: all of it but for what the figure tells. Lines,
branches and conditions are covered, or listed with the reason why no vector can cover them in that
model; where several models are shown, what is left of each is in evidence.json. Eva takes the facts
of each assumed.md for true, and reads the C in which they are said. Mutants are a sample. Open:
something is left, which is listed below. Refuted: the claim did not hold. Not run: a tool is
missing, or the part does not look at such a subject. Figure, tool and command are those of the
subject that is named, one with the worst outcome; those of the others are in evidence.json.
SHA256SUMS has the digest of each file. Where: host, the C was built for this machine and run on it;
read, it was not run. What ran on the target is in report.json.

Commands are run in this folder. `make` and those with `PYTHONPATH=tests` are run in a checkout of
kmcompile, or in its source archive, which `make evidence` puts into supply_chain/, unpacked;
`kmcompile evidence NAME` in the folder that has the output folder NAME. A folder of `make evidence`
has each promise with its outcome and its commands in traceability/promises.md, and in trained/ the
estimators that the reports are of.

The folder says what was run and what came out. It is no statement about any standard, and no tool
here was assessed by anyone else for that purpose.
"""


def write_summary(folder: Path, findings: Sequence[Finding], commit: str | None = None) -> None:
    """Write all findings as evidence.json, and a page with one table as evidence.md.

    Parameters
    ----------
    folder : Path
    findings : sequence of Finding
    commit : str, optional
        Of the checkout of kmcompile that was run.
    """
    made = _made(findings, commit)
    content = {
        "kmcompile": VERSION,
        "made": made,
        "findings": [one.to_json() for one in findings],
    }
    (folder / JSON).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    (folder / PAGE).write_text(summary(findings, made), encoding="utf-8")
    (folder / SUMS).write_text(_sums(folder), encoding="utf-8")


def _sums(folder: Path) -> str:
    """Return a line for each file of the folder, as `sha256sum --check` reads it."""
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != SUMS)
    return "".join(
        f"{sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder)}\n" for path in files
    )


def _made(findings: Iterable[Finding], commit: str | None) -> dict[str, Any]:
    """Return when and with what the folder is made: with the programs that the runs used."""
    used = dict.fromkeys(name for one in findings for name in one.programs)
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": commit,
        "machine": platform.platform(),
        "python": platform.python_version(),
        "tools": {one: version_of(path) for one in used if (path := shutil.which(one))},
    }


def summary(findings: Iterable[Finding], made: Mapping[str, Any]) -> str:
    """Return the page: a line for each claim with its worst outcome, then what was not shown.

    Last is when and with what the folder was made.
    """
    claims: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        claims[finding.claim].append(finding)
    lines = [
        "# What was run, and what came out",
        "",
        _LEGEND,
        "| claim | outcome | subjects | figure | tool | command | where |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    for claim, own in claims.items():
        worst = min(own, key=lambda one: WORST_FIRST.index(one.outcome))
        shown = sum(one.outcome is Outcome.SHOWN for one in own)
        subjects = f"{shown} of {len(own)}" if len(own) > 1 else worst.subject
        figure = f"{worst.subject}: {worst.figure}" if len(own) > 1 else worst.figure
        cells = (claim, worst.outcome.value, subjects, figure, worst.tool)
        ends = f"`{_cell(worst.command)}` | {worst.where}"
        lines.append(f"| {' | '.join(map(_cell, cells))} | {ends} |")
    left = [
        (one, text)
        for own in claims.values()
        for one in own
        if len(own) == 1 or one.outcome is not Outcome.SHOWN
        for text in one.listed
    ]
    if left:
        lines += ["", "## What is left", ""]
        lines += [f"- {one.claim}, {one.subject}: {text}" for one, text in left]
    version = f"kmcompile {VERSION}" + (f", commit {made['commit']}" if made["commit"] else "")
    lines += ["", "## Made with", "", f"- {version}, on {made['date']}"]
    lines += [f"- {made['machine']}, Python {made['python']}"]
    lines += [f"- {name}: {said or 'tells no version'}" for name, said in made["tools"].items()]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
