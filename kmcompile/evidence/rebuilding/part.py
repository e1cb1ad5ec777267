"""The part of the evidence about the model description: another program rebuilds the machine."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from kmcompile.description import names_of
from kmcompile.description.machine import machine_of
from kmcompile.description.page import page
from kmcompile.errors import ToolError
from kmcompile.evidence.finding import Finding, Outcome
from kmcompile.evidence.rebuilding.asking import answers_of, figure_of
from kmcompile.evidence.subject import Subject
from kmcompile.target import load_target
from kmcompile.tools.toolchain import run_process

NAME = "description"
_PROGRAM = Path(__file__).with_name("rebuild.py")
_ANSWERS = "answers.json"
_TIMEOUT_S = 300.0
_UNKNOWN = 3
"""Exit code of the program for a kernel or a step whose formula it does not have."""


def run(subject: Subject, folder: Path) -> Sequence[Finding]:
    """Rebuild the machine from its description alone, and compare the C's answers with it."""
    document, tables, readable = names_of(subject.program.name)
    command = f"cd {NAME}/{subject.name} && python {_PROGRAM.name} {document} {_ANSWERS}"
    if document not in subject.files:
        return [_left(subject, command, f"the folder has no {document}; compile the model again")]
    if importlib.util.find_spec("mpmath") is None:
        return [_left(subject, command, "mpmath is not installed: pip install mpmath")]
    start = sum(os.times()[:4])
    plain = json.loads(subject.files[document])
    machine = machine_of(plain["model"], subject.files.get(tables, b""))
    try:
        answers = answers_of(subject, machine)
        own = folder / subject.name
        _write(own, subject, plain, answers)
        arguments = [sys.executable, _PROGRAM.name, document, _ANSWERS]
        code, output = run_process(arguments, own, _TIMEOUT_S, f"rebuilding {subject.name}")
    except ToolError as error:
        return [_left(subject, command, str(error).replace("\n", "; "))]
    if code == _UNKNOWN:
        return [_left(subject, command, output.strip())]
    if code not in (0, 1) or not output.startswith("{"):
        return [_finding(subject, Outcome.REFUTED, output.strip()[-300:], command, 0.0)]
    figure = figure_of(json.loads(output))
    said = {plain["model"]["sha256"]}
    if subject.report:
        said.add(subject.report["model"]["sha256"])
    is_same = said == {machine.sha256}
    figure += (
        "; the described machine has the SHA-256 of the trained one"
        if is_same
        else (f"; the described machine has another SHA-256, {machine.sha256}")
    )
    outcome = Outcome.SHOWN if code == 0 and is_same else Outcome.REFUTED
    seconds = sum(os.times()[:4]) - start
    files = tuple(f"{NAME}/{subject.name}/{name}" for name in (document, readable, _ANSWERS))
    return [_finding(subject, outcome, figure, command, seconds, files)]


def _write(own: Path, subject: Subject, plain: dict[str, Any], answers: dict[str, Any]) -> None:
    """Write what the comparison needs, and the page with the figures of the build."""
    own.mkdir(parents=True, exist_ok=True)
    document, tables, readable = names_of(subject.program.name)
    for name in (document, tables):
        if name in subject.files:
            (own / name).write_bytes(subject.files[name])
    (own / readable).write_text(page(plain, subject.report or None), encoding="utf-8")
    (own / _ANSWERS).write_text(json.dumps(answers) + "\n", encoding="ascii")
    shutil.copyfile(_PROGRAM, own / _PROGRAM.name)


def _left(subject: Subject, command: str, why: str) -> Finding:
    return _finding(subject, Outcome.NOT_RUN, why, command, 0.0)


def _finding(
    subject: Subject,
    outcome: Outcome,
    figure: str,
    command: str,
    seconds: float,
    files: tuple[str, ...] = (),
) -> Finding:
    here = importlib.util.find_spec("mpmath") is not None
    tool = f"mpmath {version('mpmath')}" if here else "mpmath"
    used = () if outcome is Outcome.NOT_RUN else (load_target("host").compiler.command,)
    return Finding(
        "description",
        subject.name,
        outcome,
        figure,
        command,
        tool,
        files=files,
        seconds=seconds,
        programs=used,
    )
