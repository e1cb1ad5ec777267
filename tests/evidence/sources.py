"""What the evidence that promises name says in one folder: outcomes and values of fields."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kmcompile.evidence.finding import Finding, Outcome

TRAINED = "trained"
"""The folder of the trained estimators of the subjects with reports, in that of the evidence."""

_MOST_LETTERS = 60
_WORST_FIRST = (Outcome.REFUTED, Outcome.OPEN, Outcome.NOT_RUN, Outcome.SHOWN)


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

    def outcome(self, source: str) -> Outcome:
        """Return the worst outcome of "claim:..."; a field of a report is shown if it is there."""
        kind, _, name = source.partition(":")
        if kind == "report":
            return Outcome.SHOWN if self._value(name) else Outcome.NOT_RUN
        worst = self._worst(name)
        return Outcome.NOT_RUN if worst is None else worst.outcome

    def command(self, source: str) -> str:
        """Return what repeats a finding, or the checks behind a field of a report, or ""."""
        kind, _, name = source.partition(":")
        if kind == "report":
            subject = self._found(name)[0]
            model = f"{TRAINED}/{subject}.pkl"
            return f"kmcompile verify supply_chain/{subject} --model {model}" if subject else ""
        worst = self._worst(name)
        return "" if worst is None else worst.command

    def _worst(self, claim: str) -> Finding | None:
        own = [one for one in self._findings if one.claim == claim]
        return min(own, key=lambda one: _WORST_FIRST.index(one.outcome), default=None)

    def _outcomes(self, claim: str) -> str:
        own = [one.outcome for one in self._findings if one.claim == claim]
        counts = {outcome: own.count(outcome) for outcome in Outcome if outcome in own}
        return ", ".join(f"{outcome.value} for {n}" for outcome, n in counts.items())

    def _value(self, source: str) -> str:
        """Return a field of the named subject's report, or of the first report that has it."""
        name, text = self._found(source)
        shown = text if len(text) <= _MOST_LETTERS else "there"
        return f"{shown}, supply_chain/{name}/report.json" if name else ""

    def _found(self, source: str) -> tuple[str, str]:
        """Return the subject whose report has a field, and the field as JSON; or ""."""
        subject, _, field = source.rpartition(":")
        names = [subject] if subject else [*self._reports]
        for name in names:
            value: Any = self._reports.get(name)
            for part in field.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            if value not in (None, [], {}):
                return name, json.dumps(value)
        return "", ""
