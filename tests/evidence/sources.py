"""What the evidence that promises name says in one folder: outcomes and values of fields."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kmcompile.evidence.finding import WORST_FIRST, Finding, Outcome

TRAINED = "trained"
"""The folder of the trained estimators of the subjects with reports, in that of the evidence."""

_MOST_LETTERS = 300


@dataclass(frozen=True)
class Named:
    """The parts of a source that a promise names, see `Sources.said`."""

    is_claim: bool
    subject: str
    name: str
    wanted: str

    @classmethod
    def of(cls, source: str) -> Named:
        """Return the parts of "claim:..." or "report:..."."""
        kind, _, rest = source.partition(":")
        rest, _, wanted = rest.partition("=")
        subject, _, name = rest.rpartition(":")
        return cls(kind == "claim", subject, name, wanted)

    def __str__(self) -> str:
        of = f" of {self.subject}" if self.subject else ""
        if self.is_claim:
            return f"the finding `{self.name}`{of}"
        return f"`{self.name}` in report.json{of}{f', wanted {self.wanted}' if self.wanted else ''}"


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
        """Return what a source says, or "" if it is not in the folder.

        A source is "claim:NAME" or "report:FIELD", of all subjects; "claim:SUBJECT:NAME" or
        "report:SUBJECT:FIELD", of one; and a field may be followed by "=" and its value as JSON.
        """
        named = Named.of(source)
        if named.is_claim:
            own = [one.outcome for one in self._findings_of(named)]
            counts = {outcome: own.count(outcome) for outcome in Outcome if outcome in own}
            return ", ".join(f"{outcome.value} for {n}" for outcome, n in counts.items())
        found = self._values(named)
        if not found:
            return ""
        name, value = next(iter(found.items()))
        if named.wanted and len(found) > 1:
            right = sum(value == named.wanted for value in found.values())
            return f"{named.wanted} in {right} of {len(found)} reports"
        shown = value if len(value) <= _MOST_LETTERS else f"{value[:_MOST_LETTERS]} …"
        return f"{shown}, supply_chain/{name}/report.json"

    def other_claims(self, sources: Iterable[str]) -> list[str]:
        """Return the claims that some finding has whose subject no source names, each once."""
        every = [named for named in map(Named.of, sources) if named.is_claim]
        seen = {(one.claim, one.subject) for named in every for one in self._findings_of(named)}
        return sorted({one.claim for one in self._findings if (one.claim, one.subject) not in seen})

    def outcome(self, source: str) -> Outcome:
        """Return the worst outcome of the findings, or whether the fields are as they should be."""
        named = Named.of(source)
        if named.is_claim:
            worst = self._worst(named)
            return Outcome.NOT_RUN if worst is None else worst.outcome
        found = self._values(named)
        if not found:
            return Outcome.NOT_RUN
        wrong = named.wanted and any(value != named.wanted for value in found.values())
        return Outcome.REFUTED if wrong else Outcome.SHOWN

    def command(self, source: str) -> str:
        """Return what repeats a finding, or the checks behind a field of a report, or ""."""
        named = Named.of(source)
        if named.is_claim:
            worst = self._worst(named)
            return "" if worst is None else worst.command
        subject = next(iter(self._values(named)), "")
        model = f"{TRAINED}/{subject}.pkl"
        return f"kmcompile verify supply_chain/{subject} --model {model}" if subject else ""

    def _findings_of(self, named: Named) -> list[Finding]:
        own = [one for one in self._findings if one.claim == named.name]
        return [one for one in own if named.subject in ("", one.subject)]

    def _worst(self, named: Named) -> Finding | None:
        own = self._findings_of(named)
        return min(own, key=lambda one: WORST_FIRST.index(one.outcome), default=None)

    def _values(self, named: Named) -> dict[str, str]:
        """Return the field as JSON, by subject, of the reports that have it."""
        found = {}
        for subject, report in self._reports.items():
            value: Any = report
            for part in named.name.split("."):
                value = value.get(part) if isinstance(value, dict) else None
            if named.subject in ("", subject) and value not in (None, [], {}):
                found[subject] = json.dumps(value)
        return found
