"""The part of the evidence about run-time errors: analyses of one model, and what they found."""

from __future__ import annotations

import shutil
import zlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from kmcompile.errors import ToolError
from kmcompile.evidence.finding import READ, Finding, Outcome
from kmcompile.evidence.run_time_errors import analyses
from kmcompile.evidence.run_time_errors.analyses import Emitted, Kind
from kmcompile.evidence.run_time_errors.eva import COMMAND, PACKAGES, Alarm, Analysis, version
from kmcompile.evidence.run_time_errors.reasons import reason_of
from kmcompile.evidence.subject import Subject
from kmcompile.tools.toolchain import install_command

NAME = "run_time_errors"
LIMIT_S = 300.0
"""Seconds of processor time of one analysis."""

_EVERY = 4
"""Of the small models, which were not verified, one in so many is read with int of 16 bits."""

_NOT_ENDED = "did not end"
"""What a tool error says of a program that was stopped (`kmcompile.tools.toolchain`)."""

_IN_IMAGE = "a model in an image: its arithmetic is that of the same tables in the code"
_NOT_EXPLAINED = "not explained"


def run(subject: Subject, folder: Path) -> Sequence[Finding]:
    """Run the analyses of a model, each in a folder of its own."""
    if shutil.which(COMMAND) is None:
        missing = f"{COMMAND} is not installed: {install_command(PACKAGES)}"
        return [_not_run(kind, subject, missing) for kind in analyses.KINDS]
    kinds = _kinds(subject)
    left = [_not_run(kind, subject, _IN_IMAGE) for kind in analyses.KINDS if _skips(kind, subject)]
    findings: list[Finding] = []
    for kind in kinds:
        if any(_NOT_ENDED in one.figure for one in findings):
            text = f"{kind.text}: left out, because another analysis of this model {_NOT_ENDED}"
            findings.append(_open(kind, subject, text))
        else:
            findings.append(_finding(kind, subject, folder))
    return [*findings, *left]


def prove(subject: Subject, tell: Callable[[str], None]) -> list[Finding]:
    """Run the analyses of a model and return what they found.

    Parameters
    ----------
    subject : Subject
    tell : callable
        Called with a few words as each analysis begins.

    Raises
    ------
    ToolError
        If Frama-C is not installed, fails, or does not end within its time limit.
    """
    findings = []
    with TemporaryDirectory(prefix="kmcompile-") as scratch:
        for kind in _of_its_tables(subject):
            tell(f"proving: {kind.text}")
            findings.append(_analysed(kind, subject, Path(scratch)))
    return findings


def unexplained(findings: Sequence[Finding]) -> list[str]:
    """Return the alarms that have no reason, a line for each."""
    return [line for one in findings for line in one.listed if line.endswith(_NOT_EXPLAINED)]


def _kinds(subject: Subject) -> tuple[Kind, ...]:
    """Return the analyses of a subject: the size of int matters little, so few small ones."""
    kinds = _of_its_tables(subject)
    if subject.report or zlib.crc32(subject.name.encode()) % _EVERY == 0:
        return kinds
    return tuple(kind for kind in kinds if kind.machine != analyses.INT16)


def _of_its_tables(subject: Subject) -> tuple[Kind, ...]:
    return tuple(kind for kind in analyses.KINDS if not _skips(kind, subject))


def _skips(kind: Kind, subject: Subject) -> bool:
    """Return whether an analysis is left to the same model with its tables in the code."""
    return kind.finite and subject.program.capacity is not None


def _finding(kind: Kind, subject: Subject, folder: Path) -> Finding:
    try:
        return _analysed(kind, subject, folder)
    except ToolError as error:
        return _open(kind, subject, f"{kind.text}: {str(error).splitlines()[0]}")


def _open(kind: Kind, subject: Subject, text: str) -> Finding:
    return replace(_not_run(kind, subject, text), outcome=Outcome.OPEN, listed=(text,))


def _analysed(kind: Kind, subject: Subject, folder: Path) -> Finding:
    prefix = subject.program.name
    own = folder / subject.name / kind.name
    analysis = analyses.run(kind, Emitted.of(subject), own, LIMIT_S)
    reasons = {alarm: reason_of(alarm) for alarm in analysis.alarms}
    unknown = [alarm for alarm, reason in reasons.items() if reason is None]
    return Finding(
        kind.claim,
        subject.name,
        Outcome.OPEN if reasons else Outcome.SHOWN,
        _figure(kind, analysis, unknown),
        f"sh {NAME}/{subject.name}/{kind.name}/eva.sh",
        version(),
        tuple(f"{alarm}: {reason or _NOT_EXPLAINED}" for alarm, reason in reasons.items()),
        tuple(
            f"{NAME}/{subject.name}/{kind.name}/{name}"
            for name in ("eva.sh", "assumed.md", "driver.c", f"{prefix}.c", "log.txt", "alarms.csv")
        ),
        analysis.seconds,
        READ,
        (COMMAND,),
    )


def _figure(kind: Kind, analysis: Analysis, unknown: Sequence[Alarm]) -> str:
    alarms = f"{len(analysis.alarms)} alarms"
    if analysis.alarms:
        alarms += (
            f", {len(unknown)} of them {_NOT_EXPLAINED}" if unknown else ", each with its reason"
        )
    if analysis.of_floats:
        alarms += f", {analysis.of_floats} more about floats are left to the analysis of numbers"
    return (
        f"{kind.text}: {alarms}; {analysis.functions} of {analysis.all_functions} functions, "
        f"{analysis.statements} of {analysis.all_statements} statements; "
        f"{analysis.assumed} facts taken for true"
    )


def _not_run(kind: Kind, subject: Subject, text: str) -> Finding:
    command = f"kmcompile evidence {subject.name} --parts {NAME}"
    return Finding(
        kind.claim, subject.name, Outcome.NOT_RUN, text, command, "Frama-C, Eva", where=READ
    )
