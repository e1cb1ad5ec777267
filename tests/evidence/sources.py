"""What the evidence that promises name says in one folder: outcomes and values of fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kmcompile.evidence.finding import Finding, Outcome

_MOST_LETTERS = 60


class Sources:
    """The findings of a run and the reports of its subjects.

    Parameters
    ----------
    findings : sequence of Finding
    reports : mapping of str to dict
        Each report.json, by subject.
    """

    def __init__(self, findings: Sequence[Finding], reports: Mapping[str, Any]) -> None:
        self._findings, self._reports = findings, reports

    @classmethod
    def of_folder(cls, folder: Path, findings: Sequence[Finding]) -> Sources:
        """Return the sources of a folder of evidence, which has a copy of each output folder."""
        paths = sorted((folder / "supply_chain").glob("*/report.json"))
        reports = {path.parent.name: json.loads(path.read_text("utf-8")) for path in paths}
        return cls(findings, reports)

    def said(self, source: str) -> str:
        """Return what "claim:..." or "report:..." says, or "" if it is not in the folder."""
        kind, _, name = source.partition(":")
        return self._outcomes(name) if kind == "claim" else self._value(name)

    def _outcomes(self, claim: str) -> str:
        own = [one.outcome for one in self._findings if one.claim == claim]
        counts = {outcome: own.count(outcome) for outcome in Outcome if outcome in own}
        return ", ".join(f"{outcome.value} for {n}" for outcome, n in counts.items())

    def _value(self, source: str) -> str:
        """Return a field of the named subject's report, or of the first report that has it."""
        subject, _, field = source.rpartition(":")
        names = [subject] if subject else [*self._reports]
        for name in names:
            value: Any = self._reports.get(name)
            for part in field.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            if value not in (None, [], {}):
                text = json.dumps(value)
                shown = text if len(text) <= _MOST_LETTERS else "there"
                return f"{shown}, supply_chain/{name}/report.json"
        return ""
