"""The folder of the evidence: one folder a part, all findings as JSON, and a page that sums up."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path

from kmcompile.evidence.finding import Finding, Outcome
from kmcompile.version import VERSION

JSON = "evidence.json"
PAGE = "evidence.md"
_ORDER = (Outcome.REFUTED, Outcome.OPEN, Outcome.NOT_RUN, Outcome.SHOWN)


def write_summary(folder: Path, findings: Sequence[Finding]) -> None:
    """Write all findings as evidence.json, and a page with one table as evidence.md."""
    content = {"kmcompile": VERSION, "findings": [one.to_json() for one in findings]}
    (folder / JSON).write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    (folder / PAGE).write_text(summary(findings), encoding="utf-8")


def summary(findings: Iterable[Finding]) -> str:
    """Return the page: a line for each claim with its worst outcome, then what was not shown."""
    claims: dict[str, list[Finding]] = defaultdict(list)
    for finding in findings:
        claims[finding.claim].append(finding)
    lines = [
        "# What was run, and what came out",
        "",
        "| claim | outcome | subjects | figure | tool | command |",
        "| --- | --- | --- | --- | --- | --- |",
    ]
    for claim, own in claims.items():
        worst = min(own, key=lambda one: _ORDER.index(one.outcome))
        shown = sum(one.outcome is Outcome.SHOWN for one in own)
        subjects = f"{shown} of {len(own)}" if len(own) > 1 else worst.subject
        cells = (claim, worst.outcome.value, subjects, worst.figure, worst.tool)
        lines.append(f"| {' | '.join(map(_cell, cells))} | `{_cell(worst.command)}` |")
    left = [(one, text) for own in claims.values() for one in own for text in one.listed]
    if left:
        lines += ["", "## Not shown", ""]
        lines += [f"- {one.claim}, {one.subject}: {text}" for one, text in left]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
