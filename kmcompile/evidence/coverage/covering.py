"""The part of the evidence on coverage: what the shipped vectors of a model leave out."""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kmcompile.evidence.coverage.count import Outcome, Place, numbers
from kmcompile.evidence.coverage.justified import Facts, reason_of
from kmcompile.evidence.coverage.measured import SCRIPT, Measured, has_clang, measure
from kmcompile.evidence.coverage.with_gcc import measure_with_gcc
from kmcompile.evidence.finding import NO_ARGUMENT, Finding
from kmcompile.evidence.finding import Outcome as Stands
from kmcompile.evidence.part import Part
from kmcompile.evidence.subject import Subject
from kmcompile.evidence.vectors.vectors import Vectors
from kmcompile.tools.evidence_tools import CLANG, COVERAGE_PACKAGES
from kmcompile.tools.toolchain import install_command

COUNTS = "coverage.json"
_NO_CLANG = f"{CLANG} is not installed: {install_command(COVERAGE_PACKAGES)}"
_CLAIMS = {
    "line": "every-line-is-executed",
    "branch": "every-branch-is-taken-both-ways",
    "condition": "every-condition-alone-changes-its-decision",
}


def run(subject: Subject, folder: Path) -> Sequence[Finding]:
    """Measure the coverage of a subject by its vectors."""
    if "queries.npz" not in subject.files:
        return [_not_run(subject, "its vectors were not made")]
    if not has_clang() and shutil.which("gcc") is None:
        return [_not_run(subject, _NO_CLANG)]
    began = sum(os.times()[:4])
    own = folder / subject.name
    vectors = Vectors.of(subject)
    measured = measure(vectors, own) if has_clang() else measure_with_gcc(vectors, own)
    facts = facts_of(subject)
    told = counts(measured.found, facts)
    (own / COUNTS).write_text(json.dumps(told) + "\n", encoding="utf-8")
    command = f"cd {folder.name}/{subject.name} && sh {SCRIPT}"
    files = tuple(f"{folder.name}/{subject.name}/{one}" for one in (SCRIPT, COUNTS))
    agree = Finding(
        claim="vectors-agree-with-the-interpreter",
        subject=subject.name,
        outcome=Stands.SHOWN if measured.agrees else Stands.REFUTED,
        figure=", ".join(measured.said),
        command=command,
        tool=measured.tool,
        listed=() if measured.agrees else measured.said,
        files=files,
        seconds=sum(os.times()[:4]) - began,
        programs=measured.programs,
    )
    kinds = [kind for kind in _CLAIMS if kind != "condition" or has_clang()]
    covered = [_finding(kind, subject, told, measured, command, files) for kind in kinds]
    return [agree, *covered, *([] if has_clang() else [_not_run(subject, _NO_CLANG)])]


def facts_of(subject: Subject) -> Facts:
    """Return what reasons may rest on in the C of a subject."""
    name = subject.program.name
    source, header = (subject.files[f"{name}.{end}"].decode("ascii") for end in "ch")
    return Facts.of(source, header, name)


def counts(found: Mapping[Place, Outcome], facts: Facts) -> dict[str, Any]:
    """Return how many of each kind are covered, and each that is not, with its reason."""
    told = list(found.values())
    outcomes = [
        [one.kind, one.function, one.text, one.value, one.covered]
        for one in told
        if one.kind != "line"
    ]
    places = _places(told)
    left = []
    for one in told:
        if not one.covered:
            meant = one if one.kind != "line" else _branch_before(one, told)
            entry = None if meant is None else reason_of(meant, facts, places[meant])
            left.append(
                {
                    "kind": one.kind,
                    "function": one.function,
                    "text": one.text,
                    "value": one.value,
                    "line": one.line,
                    "reason": None if entry is None else entry.reason,
                }
            )
    return {"covered": numbers(found), "left": left, "outcomes": outcomes}


def _places(told: Sequence[Outcome]) -> dict[Outcome, int]:
    """Return the number of each outcome among the same ones of its function, from 1."""
    seen: Counter[tuple[str, ...]] = Counter()
    places = {}
    for one in sorted(told, key=lambda one: one.line):
        key = (one.kind, one.function, one.text, one.value)
        seen[key] += 1
        places[one] = seen[key]
    return places


def _branch_before(line: Outcome, told: Sequence[Outcome]) -> Outcome | None:
    """Return the branch before a line that keeps it from being executed."""
    before = [
        one
        for one in told
        if one.kind == "branch"
        and not one.covered
        and one.function == line.function
        and one.line <= line.line
    ]
    return max(before, key=lambda one: one.line) if before else None


def _finding(
    kind: str,
    subject: Subject,
    told: dict[str, Any],
    measured: Measured,
    command: str,
    files: tuple[str, ...],
) -> Finding:
    covered, all_ = told["covered"][kind]
    left = [one for one in told["left"] if one["kind"] == kind]
    open_ = [one for one in left if one["reason"] is None]
    share = 100.0 if all_ == 0 else 100 * covered / all_
    why = f", {len(left) - len(open_)} cannot be, for the reasons in {COUNTS}" if left else ""
    file = f"{subject.program.name}.c"
    return Finding(
        claim=_CLAIMS[kind],
        subject=subject.name,
        outcome=Stands.OPEN if open_ else Stands.SHOWN,
        figure=f"{covered} of {all_} ({share:.1f} %){why}",
        command=command,
        tool=measured.tool,
        listed=tuple(f"{file}, {_told(one)}" for one in left),
        files=files,
        programs=measured.programs,
    )


def _told(left: Mapping[str, Any]) -> str:
    """Return the place and the text of what is not covered, with its reason if there is one."""
    never = f", never {left['value']}" if left["value"] else ""
    why = left["reason"] or NO_ARGUMENT
    return f"line {left['line']}, {left['function']}: `{left['text']}`{never}: {why}"


def _not_run(subject: Subject, why: str) -> Finding:
    return Finding(
        _CLAIMS["condition"], subject.name, Stands.NOT_RUN, why, "kmcompile evidence DIR", CLANG
    )


PART = Part("coverage", "which lines, branches and conditions the shipped vectors cover", run)
